import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that mostly wait: for killed processes, restarted databases, clocks and time-outs. They are small and take long. */
const WAITS =
  /(crash|kill|schedule|restart|conformance|upkeep|short-work|thread|lost-answers|clients|passkeys)[^/]*\.test\.ts$/;

/** Starts the files that wait first, so that none of them is left alone at the end while a core is idle. */
export default class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const waits = ({ moduleId }: TestSpecification): boolean => WAITS.test(moduleId);
    return [...sorted.filter(waits), ...sorted.filter((file) => !waits(file))];
  }
}
