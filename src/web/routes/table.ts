import { z } from 'zod';
import type { JsonValue } from '../../contract/json.ts';
import { policyOverrides } from '../../contract/policy.ts';
import type { StandingView } from '../../contract/standing.ts';
import type {
  ExplainData,
  MatrixData,
  PolicyData,
  RecommendationsData,
  ReplayReply,
  RuleData,
} from '../../kernel/views/policy-shapes.ts';
import type {
  Agent,
  AgentDetail,
  AgentsData,
  ApprovalData,
  ApprovedData,
  ApprovedTogetherData,
  CallDetail,
  CallStory,
  DamagedData,
  DecisionResult,
  HoldsData,
  HoldView,
  InboxPageData,
  InsightsData,
  Item,
  LastDecision,
  ListedCall,
  StandingData,
  StandingDraftData,
  StandingTestData,
  UndoneData,
} from '../../kernel/views/shapes.ts';
import * as bodies from './bodies.ts';
import type {
  News,
  Passkey,
  PasskeyData,
  Session,
  ShownOutcome,
  SignedResult,
  Snippet,
  ToolResult,
  ToSign,
} from './shapes.ts';

/** What a route takes and gives. */
export interface RouteSpec {
  readonly body?: z.ZodType;
  readonly reply: z.ZodType;
}

/** A reply of this shape. It is the server's own, so its type says enough and nothing is checked at run time. */
const json = <T>(): z.ZodType<T, T> => z.custom<T>();

/**
 * Every route whose reply a page reads: handlers must give what stands here, and pages get its type from the path. A
 * query in a path must be sent and comes first; any other may follow.
 */
export const routes = {
  'GET /session': { reply: json<Session>() },
  'POST /sign-out': { reply: json<{ readonly signed_out: boolean }>() },
  'GET /snippets': { reply: json<readonly Snippet[]>() },
  'GET /notices': { reply: json<News>() },
  'POST /presence': { body: bodies.presenceBody, reply: json<{ readonly place: string | null }>() },

  'GET /inbox?brief=1': { reply: json<InboxPageData>() },
  'GET /inbox/count': { reply: json<{ readonly total: number }>() },
  'GET /inbox/:id': { reply: json<Item>() },
  'POST /inbox/approve': { body: bodies.approveManyBody, reply: json<ApprovedTogetherData>() },
  'POST /inbox/reject': {
    body: bodies.rejectManyBody,
    reply: json<{ readonly results: readonly DecisionResult[] }>(),
  },
  'POST /inbox/reject-matching': {
    body: bodies.rejectMatchingBody,
    reply: json<{ readonly rejected: number }>(),
  },
  'POST /inbox/:id/approve': { body: bodies.approveBody, reply: json<ApprovedData>() },
  'POST /inbox/:id/reject': { body: bodies.rejectBody, reply: json<ApprovalData | DamagedData>() },
  'POST /inbox/:id/edit': { body: bodies.editBody, reply: json<ApprovalData>() },
  'POST /inbox/:id/undo': { body: bodies.undoBody, reply: json<UndoneData>() },
  'GET /decisions/last': { reply: json<{ readonly last: LastDecision | null }>() },
  'POST /inbox/sign': { body: bodies.signBody, reply: json<ToSign>() },
  'POST /inbox/sign/finish': {
    body: bodies.signedBody,
    reply: json<{ readonly results: readonly SignedResult[] }>(),
  },
  'POST /calls/:id/settle': { body: bodies.settleBody, reply: json<{ readonly settled: boolean }>() },

  'GET /holds': { reply: json<HoldsData>() },
  'POST /holds/:key/call-off': { reply: json<HoldView>() },
  'POST /holds/:key/run': { reply: json<HoldView>() },

  'GET /standing': { reply: json<StandingData>() },
  'GET /standing/draft/:approval': { reply: json<StandingDraftData>() },
  'POST /standing/test': { body: bodies.standingTestBody, reply: json<StandingTestData>() },
  'POST /standing': {
    body: bodies.standingBody,
    reply: json<{
      readonly standing: StandingView;
      readonly approval?: { readonly id: number; readonly state: string };
      readonly result: ShownOutcome | null;
    }>(),
  },
  'POST /standing/:id/revoke': { reply: json<{ readonly revoked: boolean }>() },

  'GET /activity': { reply: json<{ readonly calls: readonly ListedCall[] }>() },
  'GET /activity/:id': { reply: json<CallDetail>() },
  'GET /activity/:id/story': { reply: json<CallStory>() },
  'GET /log-keys': { reply: json<{ readonly keys: readonly string[] }>() },
  'GET /insights': { reply: json<InsightsData>() },

  'GET /agents': {
    reply: json<{
      readonly agents: readonly Agent[];
      /** Who paused it, by name; names without a token, such as `local`, included. */
      readonly paused: Readonly<Record<string, string>>;
    }>(),
  },
  'GET /agents/overview': { reply: json<AgentsData>() },
  'GET /agents/:name/overview': { reply: json<AgentDetail>() },
  'POST /agents': {
    body: bodies.agentBody,
    reply: json<{ readonly name: string; readonly token: string; readonly snippets: readonly Snippet[] }>(),
  },
  'DELETE /agents/:name': { reply: json<{ readonly revoked: boolean }>() },
  'POST /agents/:name/pause': { reply: json<AgentPaused>() },
  'POST /agents/:name/resume': { reply: json<AgentPaused>() },
  'POST /pause': { reply: json<{ readonly paused: boolean }>() },
  'POST /resume': { reply: json<{ readonly paused: boolean }>() },

  'GET /policy': { reply: json<PolicyData>() },
  'PUT /policy': { body: policyOverrides, reply: json<Pick<PolicyData, 'status' | 'overrides'>>() },
  'GET /policy/matrix': { reply: json<MatrixData>() },
  'GET /policy/recommendations': { reply: json<RecommendationsData>() },
  'GET /policy/rules/:id': { reply: json<RuleData>() },
  'POST /policy/explain': { body: bodies.explainBody, reply: json<ExplainData>() },
  'POST /policy/replay': { body: bodies.replayBody, reply: json<ReplayReply>() },

  'GET /pages': {
    reply: json<{
      readonly pages: readonly {
        readonly id: string;
        readonly title: string;
        readonly views: readonly string[];
      }[];
    }>(),
  },
  /** The view's own spec says what its data is. */
  'GET /pages/:toolkit/:view': { reply: json<{ readonly data: JsonValue }>() },
  'POST /tools/:name': { body: bodies.callBody, reply: json<ToolResult>() },

  'GET /passkeys': { reply: json<PasskeyData>() },
  'POST /passkeys/enrol': { body: bodies.enrolBody, reply: json<ToSign>() },
  'POST /passkeys/enrol/finish': {
    body: bodies.possessionBody,
    reply: json<{ readonly enrolled?: Passkey; readonly countersign?: ToSign }>(),
  },
  'POST /passkeys/enrol/countersign': {
    body: bodies.signedBody,
    reply: json<{ readonly enrolled: Passkey }>(),
  },
  'POST /passkeys/order': { body: bodies.orderBody, reply: json<ToSign>() },
  'POST /passkeys/order/finish': {
    body: bodies.signedBody,
    reply: json<{ readonly done: z.output<typeof bodies.orderBody> }>(),
  },
} satisfies Readonly<Record<string, RouteSpec>>;

interface AgentPaused {
  readonly name: string;
  readonly paused: boolean;
  readonly changed: boolean;
}
