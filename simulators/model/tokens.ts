// The token count of all simulated language models: a token is four bytes of UTF-8.

export function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4)
}

/** Returns the longest prefix that fits, never splitting a character. */
export function firstTokens(text: string, tokens: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= tokens * 4) return text
  let end = tokens * 4
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end)
}
