/**
 * PostgreSQL's text format of COPY: one line per row, tabs between fields. Newlines and tabs in
 * values are escaped, so that lines can be split as bytes.
 */
const NEWLINE = 0x0a
const ESCAPES: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

/** Returns the fields of one line; null represents SQL null. */
export function readCopyLine(line: string): (string | null)[] {
  return line.split('\t').map((field) => {
    if (field === '\\N') return null
    if (!field.includes('\\')) return field
    return field.replace(/\\(.)/gs, (_, character: string) => ESCAPES[character] ?? character)
  })
}

/** Splits chunks of bytes into rows; bytes after the last newline are ignored. */
export async function* cutRows(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer[] = []
  for await (const chunk of chunks) {
    let start = 0
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start)
      if (end < 0) break
      const last = chunk.subarray(start, end)
      yield rest.length === 0 ? last : Buffer.concat([...rest, last])
      rest = []
      start = end + 1
    }
    if (start < chunk.length) rest.push(chunk.subarray(start))
  }
}
