const two = (value: number) => String(value).padStart(2, '0');

/** As QualCoder writes dates: local time, to the second. */
export function qualcoderDate(at: Date): string {
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** `yyyymmdd`, the day in the name of a backup folder. */
export const backupDay = (at: Date) => `${at.getFullYear()}${two(at.getMonth() + 1)}${two(at.getDate())}`;

/** `yyyymmdd_HH`, as QualCoder names its backups. */
export const backupStamp = (at: Date) => `${backupDay(at)}_${two(at.getHours())}`;
