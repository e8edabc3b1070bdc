/** Text for one line of a header, a log, a mail or a terminal. */

/**
 * Replaces line breaks and other control characters, which would end a line or act on a terminal,
 * and removes those that reverse the direction of the text behind them.
 */
export function oneLine(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it replaces.
      .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
      .replace(/[\u202a-\u202e\u2066-\u2069]/g, '')
  )
}
