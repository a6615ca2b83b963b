import { Notice } from '../../components/notice.tsx';

/** Why AI Assist rests and what wakes it. */
export function NoModel() {
  return (
    <Notice>
      <p>
        AI Assist needs a language model, and none is configured. Set <code>provider</code>,{' '}
        <code>model</code> and <code>api_key</code> under <code>[llm]</code> in the configuration (ollama
        needs no key), then restart <code>countersign up</code>.
      </p>
    </Notice>
  );
}
