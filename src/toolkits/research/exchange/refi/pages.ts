/** Heights of the pages of a PDF in points; undefined when it cannot be read. */
export async function pageHeights(bytes: Uint8Array): Promise<number[] | undefined> {
  const { getDocumentProxy } = await import('unpdf');
  try {
    const document = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 });
    const heights: number[] = [];
    for (let page = 1; page <= document.numPages; page += 1) {
      heights.push((await document.getPage(page)).getViewport({ scale: 1 }).height);
    }
    return heights;
  } catch {
    return undefined;
  }
}
