import type { ProjectWriter } from '../project/types.ts';

export interface Metadata {
  readonly language?: string;
  readonly topics?: readonly string[];
  readonly organization_suggestion?: string;
}

/** QualCoder keeps what is known about a file as attributes of files. */
export function writeMetadata(project: ProjectWriter, sourceId: number, metadata: Metadata): string[] {
  const values: (readonly [string, string | undefined])[] = [
    ['Language', metadata.language],
    ['Topics', metadata.topics?.join('; ')],
    ['Organization', metadata.organization_suggestion],
  ];
  return values.flatMap(([name, value]) => {
    if (value === undefined) return [];
    const attribute = attributeName(project, name);
    project.addAttributeType({ name: attribute, scope: 'file', valueType: 'character' });
    project.setAttribute({ name: attribute, scope: 'file', targetId: sourceId, value });
    return [attribute];
  });
}

/** An attribute has one name for cases, files and journals together. */
function attributeName(project: ProjectWriter, name: string): string {
  const taken = project.attributeTypes().find((type) => type.name === name && type.scope !== 'file');
  return taken ? `${name} (file)` : name;
}
