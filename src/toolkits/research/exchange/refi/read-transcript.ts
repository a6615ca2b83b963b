import { childrenOf, type XmlElement } from '../xml.ts';
import type { RefiText } from './model.ts';
import { guidOf, normalGuid, readSelection, readText } from './read-parts.ts';

/** A transcript is a text whose selections run from one sync point to another; the points know the positions. */
export function readTranscript(item: XmlElement): RefiText {
  const places = new Map(
    childrenOf(item, 'SyncPoint').map((point) => [
      guidOf(point),
      Number(point.attributes.position ?? Number.NaN),
    ]),
  );
  const place = (guid: string | undefined) => places.get(normalGuid(guid)) ?? Number.NaN;
  const selections = childrenOf(item, 'TranscriptSelection').map((selection) => ({
    ...readSelection(selection),
    start: place(selection.attributes.fromSyncPoint),
    end: place(selection.attributes.toSyncPoint),
  }));
  return { ...readText(item), selections };
}
