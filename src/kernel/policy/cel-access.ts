import type { ASTNode } from '@marcbachmann/cel-js';

/** A place where an expression reads an argument: `args.media.alt` is the path `media`, `alt`. */
export interface Access {
  readonly path: readonly string[];
  readonly position: number;
  /** The expression made sure, or copes without: has(), `.?`, or a has() that must be true to get here. */
  readonly guarded: boolean;
}

/** Every access to `args`, with what the expression already knows to be there at that point. */
export function findAccesses(root: ASTNode): readonly Access[] {
  const found: Access[] = [];
  visit(root, new Set(), found);
  return found;
}

type Known = ReadonlySet<string>;

function visit(node: ASTNode, known: Known, found: Access[]): void {
  switch (node.op) {
    case 'value':
    case 'id':
      return;
    case '.':
    case '.?':
    case '[]':
    case '[?]': {
      const [receiver, key] = node.args;
      const path = pathOf(node);
      if (path) {
        const guarded = node.op === '.?' || node.op === '[?]' || known.has(path.join('.'));
        found.push({ path, position: node.range.end - (path.at(-1)?.length ?? 0), guarded });
      }
      visit(receiver, known, found);
      if (typeof key !== 'string') visit(key, known, found);
      return;
    }
    case '&&':
      visitBoth(node.args[0], node.args[1], known, true, found);
      return;
    case '||':
      visitBoth(node.args[0], node.args[1], known, false, found);
      return;
    case '?:': {
      const [test, yes, no] = node.args;
      visit(test, known, found);
      visit(yes, union(known, factsOf(test, true)), found);
      visit(no, union(known, factsOf(test, false)), found);
      return;
    }
    case 'call':
      if (node.args[0] === 'has') visitHas(node.args[1][0], known, found);
      else for (const argument of node.args[1]) visit(argument, known, found);
      return;
    case 'rcall':
      visit(node.args[1], known, found);
      for (const argument of node.args[2]) visit(argument, known, found);
      return;
    case 'map':
      for (const entry of node.args) for (const part of entry) visit(part, known, found);
      return;
    case '!_':
    case '-_':
      visit(node.args, known, found);
      return;
    default:
      for (const part of node.args) visit(part, known, found);
  }
}

/** The right side runs only once the left side is `truth`, so what that proves holds there. */
function visitBoth(left: ASTNode, right: ASTNode, known: Known, truth: boolean, found: Access[]): void {
  visit(left, known, found);
  visit(right, union(known, factsOf(left, truth)), found);
}

function visitHas(target: ASTNode | undefined, known: Known, found: Access[]): void {
  const path = target && pathOf(target);
  if (!target || !path || target.op !== '.') return;
  found.push({ path, position: target.range.end - (path.at(-1)?.length ?? 0), guarded: true });
  visit(target.args[0], known, found);
}

/** The paths that must exist when this part of the expression came out as `truth`. */
function factsOf(node: ASTNode, truth: boolean): Known {
  if (node.op === '!_') return factsOf(node.args, !truth);
  if (node.op === (truth ? '&&' : '||')) {
    return union(factsOf(node.args[0], truth), factsOf(node.args[1], truth));
  }
  if (truth && node.op === 'call' && node.args[0] === 'has') {
    const path = node.args[1][0] && pathOf(node.args[1][0]);
    if (path) return new Set([path.join('.')]);
  }
  return new Set();
}

/** The path below `args`, or undefined for anything else. */
function pathOf(node: ASTNode): readonly string[] | undefined {
  if (node.op === 'id') return node.args === 'args' ? [] : undefined;
  if (node.op !== '.' && node.op !== '.?' && node.op !== '[]' && node.op !== '[?]') return undefined;
  const [receiver, key] = node.args;
  const name = typeof key === 'string' ? key : key.op === 'value' ? key.args : undefined;
  const base = pathOf(receiver);
  return base && typeof name === 'string' ? [...base, name] : undefined;
}

const union = (a: Known, b: Known): Known => (b.size === 0 ? a : new Set([...a, ...b]));
