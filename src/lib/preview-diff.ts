interface FilePatch {
  readonly patch: string;
  readonly patch_base64?: string;
}

/** The whole diff of a change, byte for byte as git prints it. */
export const previewDiff = ({ files }: { readonly files: readonly FilePatch[] }): Buffer =>
  Buffer.concat(
    files.map(({ patch, patch_base64 }) =>
      patch_base64 === undefined ? Buffer.from(patch, 'utf8') : Buffer.from(patch_base64, 'base64'),
    ),
  );
