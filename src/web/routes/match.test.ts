import { describe, expectTypeOf, it } from 'vitest';
import type { AgentDetail, CallDetail, CallStory, InboxPageData, Item } from '../../kernel/views/shapes.ts';
import type { BodyAt, Known, ReplyAt } from './match.ts';

// Checked by the compiler: `tsc` fails where one of these is wrong.
describe('the table of routes', () => {
  it('gives the reply of a path, its parameters and query filled in', () => {
    expectTypeOf<ReplyAt<'GET', `/inbox/${number}`>>().toEqualTypeOf<Item>();
    expectTypeOf<ReplyAt<'GET', `/activity/${string}`>>().toEqualTypeOf<CallDetail>();
    expectTypeOf<ReplyAt<'GET', `/activity/${string}/story`>>().toEqualTypeOf<CallStory>();
    expectTypeOf<ReplyAt<'GET', `/agents/${string}/overview`>>().toEqualTypeOf<AgentDetail>();
    expectTypeOf<ReplyAt<'GET', `/inbox?brief=1&limit=${number}&${string}`>>().toEqualTypeOf<InboxPageData>();
  });

  it('prefers a path of its own to a parameter', () => {
    expectTypeOf<ReplyAt<'GET', '/inbox/count'>>().toEqualTypeOf<{ readonly total: number }>();
    expectTypeOf<ReplyAt<'POST', '/inbox/approve'>>().toHaveProperty('results');
  });

  it('knows no other path, method or text', () => {
    expectTypeOf<'/inbx'>().not.toExtend<Known<'GET', '/inbx'>>();
    expectTypeOf<'/inbox'>().not.toExtend<Known<'GET', '/inbox'>>();
    expectTypeOf<'/pause'>().not.toExtend<Known<'GET', '/pause'>>();
    expectTypeOf<`/inbox/${number}/x`>().not.toExtend<Known<'GET', `/inbox/${number}/x`>>();
    expectTypeOf<string>().not.toExtend<Known<'GET', string>>();
  });

  it('asks for a body where the route takes one', () => {
    expectTypeOf<BodyAt<'POST', '/pause'>>().toEqualTypeOf<[]>();
    expectTypeOf<[]>().toExtend<BodyAt<'POST', `/inbox/${number}/approve`>>();
    expectTypeOf<[]>().not.toExtend<BodyAt<'POST', `/inbox/${number}/edit`>>();
    expectTypeOf<[{ versin: number }]>().not.toExtend<BodyAt<'POST', `/inbox/${number}/approve`>>();
  });
});
