/** What we write so that our own exports come back whole; other programs see an ordinary note and a link. */
export const ORIGIN = 'Countersign';
/** A coding that refers to the note of this name is marked as important. */
export const IMPORTANT_NOTE = 'Important';
/** A link of this name leads from a recording to the text that is its transcript. */
export const TRANSCRIPT_LINK = 'Transcript';
