// A test runner for Stryker that keeps its worker thread. Stryker's own runner for vitest starts a thread for each test file and each
// mutant, so that importing the code takes most of the time; here a thread imports it once and then switches from mutant to mutant.
// What a mutant leaves behind must not count for or against the next one: a kill counts only when the same test passes without a mutant
// in the same thread, else the mutant is tried again in a new thread; a mutant survives only when the tests also pass with the code
// imported again, because it may have hidden behind something that was kept. Mutants of code that runs on import get a new thread.
import { EventEmitter } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { ThreadsPoolWorker } from 'vitest/node';

const { MUTATE_STRYKER: stryker, MUTATE_DURATIONS: durationsFile } = process.env;
const { VitestTestRunner } = await import(
  pathToFileURL(`${stryker}/@stryker-mutator/vitest-runner/dist/src/vitest-test-runner.js`).href
);

/** Bounds what the code under test may leave in memory. */
const MAX_RUNS = 200;

let thread;
let runs = 0;
/** Files to be evaluated again by the next run, besides its test files. */
let stale = [];

async function newThread() {
  const old = thread;
  thread = undefined;
  runs = 0;
  await old?.stop();
}

/** Vitest starts and stops it for each run; the thread below stays. */
class WarmWorker {
  name = 'warm';
  #answers = new EventEmitter();
  #options;
  #pattern;
  #heard = [];

  constructor(options) {
    this.#options = options;
  }

  async start() {
    if (thread) return;
    thread = new ThreadsPoolWorker(this.#options);
    thread.started = false;
    await thread.start();
  }

  on(event, listener) {
    this.#answers.on(event, listener);
    this.#heard.push([event, listener]);
    thread.on(event, listener);
  }

  off(event, listener) {
    this.#answers.off(event, listener);
    thread?.off(event, listener);
  }

  send(message) {
    if (message?.__vitest_worker_request__ !== true) return thread.send(message);
    if (message.type === 'stop') return this.#answer('stopped');
    if (message.type === 'start') {
      this.#pattern = message.context.config.testNamePattern;
      if (thread.started) return this.#answer('started');
      thread.started = true;
    }
    if (message.type === 'run') {
      runs += 1;
      // The thread has the settings of its first run, and would not run a test file again that it has.
      const files = message.context.files.map((file) => ({ ...file, testNamePattern: this.#pattern }));
      message.context = {
        ...message.context,
        files,
        invalidates: [...files.map(({ filepath }) => filepath), ...stale],
      };
      stale = [];
    }
    thread.send(message);
  }

  async stop() {
    for (const [event, listener] of this.#heard) thread?.off(event, listener);
  }

  deserialize(data) {
    return data;
  }

  #answer(type) {
    queueMicrotask(() => this.#answers.emit('message', { type, __vitest_worker_response__: true }));
  }
}

let order = new Map();

/** The test file with the least to do for this mutant first. */
class ShortestFirst {
  async shard(files) {
    return files;
  }

  async sort(files) {
    return [...files].sort((a, b) => (order.get(a.moduleId) ?? 0) - (order.get(b.moduleId) ?? 0));
  }
}

class WarmTestRunner extends VitestTestRunner {
  async init() {
    await super.init();
    this.ctx.config.sequence.sequencer = ShortestFirst;
    for (const { config } of this.ctx.projects)
      config.poolRunner = { name: 'warm', createPoolWorker: (options) => new WarmWorker(options) };
  }

  /** Which test reaches which mutant is exact only where every test file imports the code itself. */
  #keepThread(isKept) {
    for (const { config } of this.ctx.projects) {
      config.isolate = !isKept;
      config.pool = isKept ? 'warm' : 'threads';
    }
  }

  async dryRun(options) {
    this.#keepThread(false);
    const result = await super.dryRun(options);
    const durations = (result.tests ?? []).map(({ id, timeSpentMs }) => [id, timeSpentMs]);
    writeFileSync(durationsFile, JSON.stringify(durations));
    return result;
  }

  async mutantRun(options) {
    this.#keepThread(true);
    this.durations ??= new Map(
      existsSync(durationsFile) ? JSON.parse(readFileSync(durationsFile, 'utf8')) : [],
    );
    order = new Map();
    for (const id of options.testFilter ?? []) {
      const file = id.slice(0, id.indexOf('#'));
      for (const name of [file, `${process.cwd()}/${file}`])
        order.set(name, (order.get(name) ?? 0) + (this.durations.get(id) ?? 0));
    }
    if (options.reloadEnvironment || runs > MAX_RUNS) await newThread();
    const isFresh = runs === 0;
    let result = await super.mutantRun(options);
    if (options.reloadEnvironment) await newThread();
    if (result.status === 'survived' && !isFresh) {
      stale = this.#ownFiles();
      result = await super.mutantRun(options);
    }
    if (result.status === 'survived' || result.status === 'timeout') return result;
    // A busy machine makes tests late too, so a test that ended by its time limit has to do so twice.
    const isLate = result.status === 'killed' && / timed out in /.test(result.failureMessage);
    if (!isLate && (isFresh || (await this.#passesWithout(result, options)))) return result;
    await newThread();
    return super.mutantRun(options);
  }

  #ownFiles() {
    const graphs = this.ctx.projects.flatMap(({ vite }) => Object.values(vite.environments));
    const files = graphs.flatMap(({ moduleGraph }) => [...moduleGraph.fileToModulesMap.keys()]);
    return [...new Set(files)].filter((file) => !file.includes('/node_modules/'));
  }

  async #passesWithout(result, options) {
    if (result.status !== 'killed') return false;
    const { status } = await super.mutantRun({
      ...options,
      testFilter: [result.killedBy].flat(),
      activeMutant: { ...options.activeMutant, id: 'none' },
    });
    return status === 'survived';
  }
}

const create = (injector) =>
  injector.provideValue('globalNamespace', '__stryker__').injectClass(WarmTestRunner);
create.inject = ['$injector'];
export const strykerPlugins = [{ kind: 'TestRunner', name: 'warm', factory: create }];
