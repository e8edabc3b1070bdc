/** Text for one line of a header, a log or a mail. */

/** Replaces line breaks and other control characters, which would end a line. */
export function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it replaces.
  return text.replace(/[\u0000-\u001f\u007f\u0085\u2028\u2029]+/g, ' ')
}
