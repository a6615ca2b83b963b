import { setTimeout as sleep } from 'node:timers/promises';
import { ProtocolError } from '@modelcontextprotocol/client';
import type { JsonObject } from '../contract/json.ts';
import type { ClientAsk, RemoteLogMessage } from '../contract/tool.ts';
import { lookup } from '../lib/lookup.ts';
import { type Turn, Turns } from './turns.ts';

/** Questions that a server asks together are put to the client together. */
const GATHER_MS = 10;

/** The protocol's own code for a completion that was not granted. */
const REJECTED = -1;

/** What a call offers while the server works on it. */
export interface UnderWay extends Turn {
  readonly ask?: ClientAsk;
  readonly onLog?: (message: RemoteLogMessage) => void;
}

interface Question {
  readonly request: JsonObject;
  resolve(answer: JsonObject): void;
  reject(error: unknown): void;
}

/** The calls that one server works on. What it sends of its own accord names none of them. */
export class CallsUnderWay {
  readonly #turns = new Turns();
  readonly #all = new Set<UnderWay>();
  readonly #questions = new Map<Turn, Question[]>();

  /** `serial`: the server may push questions, so that only one call is under way at a time. */
  async run<T>(call: UnderWay, serial: boolean, work: () => Promise<T>): Promise<T> {
    if (serial) await this.#turns.take(call);
    this.#all.add(call);
    try {
      return await work();
    } finally {
      this.#all.delete(call);
      if (serial) this.#turns.leave(call);
    }
  }

  /** A question that a legacy server pushed: it belongs to the call under way, or to the only one that asked before. */
  ask(request: JsonObject): Promise<JsonObject> {
    const { holder, asking } = this.#turns;
    const call = (holder ?? (asking.size === 1 ? [...asking][0] : undefined)) as UnderWay | undefined;
    const kind = String(request.method).split('/')[0] ?? '';
    if (!call?.ask || lookup(call.ask.capabilities, kind) === undefined)
      throw new ProtocolError(-32_601, 'The client that made this call cannot be asked.');
    const { ask } = call;
    return new Promise((resolve, reject) => {
      const question = { request, resolve, reject };
      const waiting = this.#questions.get(call);
      if (waiting) waiting.push(question);
      else {
        this.#questions.set(call, [question]);
        void this.#putAll(call, ask);
      }
    });
  }

  /** False when it cannot be known whose it is: then no client gets it. */
  passLog(message: RemoteLogMessage): boolean {
    const [only, ...others] = this.#all;
    if (!only?.onLog || others.length > 0) return false;
    only.onLog(message);
    return true;
  }

  async #putAll(call: UnderWay, ask: ClientAsk): Promise<void> {
    for (;;) {
      await sleep(GATHER_MS);
      const batch = this.#questions.get(call) ?? [];
      if (batch.length === 0) break;
      this.#questions.set(call, []);
      this.#turns.ask(call);
      try {
        const requests = batch.map(({ request }, index) => [`q${index + 1}`, request] as const);
        const answers = await ask.put(Object.fromEntries(requests));
        // The answer reaches the server when its call has the turn again: what it asks next is then known to be its own.
        if (this.#turns.asking.has(call)) await this.#turns.take(call);
        for (const [index, { resolve, reject }] of batch.entries()) {
          const answer = answers[`q${index + 1}`];
          if (answer === undefined) reject(new ProtocolError(REJECTED, 'The request was refused.'));
          else resolve(answer as JsonObject);
        }
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#questions.delete(call);
  }
}
