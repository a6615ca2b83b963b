import { Fragment } from 'react';

/** A tool's name, which may break after each of its words where there is little room. */
export const ToolName = ({ name }: { readonly name: string }) =>
  name.split(/(?<=_)/).map((part, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a name are their places
    <Fragment key={at}>
      {part}
      <wbr />
    </Fragment>
  ));
