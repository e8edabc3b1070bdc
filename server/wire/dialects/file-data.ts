/** Reads files inside requests: data URLs, and plain base64, which some clients send. */

export interface FileData {
  readonly media: string
  /** In base64. */
  readonly data: string
}

const DATA_SCHEME = 'data:'
const BASE64_MARK = ';base64'
const BASE64 = /^[A-Za-z0-9+/]{8,}={0,2}$/
const HEAD_LENGTH = 64
/** The first bytes of a PDF, in base64. */
const PDF_HEAD = 'JVBERi'
const TEXT_MEDIA = /^(?:text\/.+|application\/(?:json|xml|yaml|x-yaml|javascript|toml|x-ndjson))$/i

/** Returns the media type and base64 of a data URL; undefined for other URLs. */
export function readDataUrl(url: string): FileData | undefined {
  if (!url.startsWith(DATA_SCHEME)) return undefined
  const comma = url.indexOf(',')
  if (comma === -1 || !url.endsWith(BASE64_MARK, comma)) return undefined
  const media = url.slice(DATA_SCHEME.length, url.indexOf(';'))
  return { media, data: url.slice(comma + 1) }
}

/** Also accepts base64 without a media type, which the content or the file's name then states. */
export function readFileData(text: string, filename = ''): FileData | undefined {
  const inline = readDataUrl(text)
  if (inline) return inline
  const isPdf = text.startsWith(PDF_HEAD) || /\.pdf$/i.test(filename)
  const isBase64 = BASE64.test(text.slice(0, HEAD_LENGTH)) || text.startsWith(PDF_HEAD)
  return isPdf && isBase64 ? { media: 'application/pdf', data: text } : undefined
}

/** Returns the text of a text file, for dialects that cannot carry such a file. */
export function decodeTextFile({ media, data }: FileData): string | undefined {
  return TEXT_MEDIA.test(media) ? Buffer.from(data, 'base64').toString('utf8') : undefined
}

export function isWebUrl(text: string): boolean {
  return /^https?:\/\//i.test(text)
}
