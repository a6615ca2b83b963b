import type { Dialect } from '../../contract/toolkit.ts';
import type { DialectRenderer } from '../dialect.ts';
import { plain } from './plain.ts';
import { qualcoder } from './qualcoder.ts';
import { toolhub } from './toolhub.ts';
import { tuitbot } from './tuitbot.ts';

export const dialects: Readonly<Record<Dialect, DialectRenderer>> = { tuitbot, toolhub, qualcoder, plain };
