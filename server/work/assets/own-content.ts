/** Finds stored content by the public link that a caller names. */
import type { Readable } from 'node:stream'
import type { Library } from './library/library.ts'
import type { ByteRange } from './storage/storage.ts'
import type { Files } from './uploads/files.ts'

export interface OwnContent {
  readonly bytes: number
  readonly type: string | undefined
  read(range?: ByteRange): Promise<Readable>
}

/**
 * Resolves to undefined for a URL that is not ours, and to `missing` if it is ours, but no such
 * content exists (any more).
 */
export type FindOwnContent = (url: string) => Promise<OwnContent | 'missing' | undefined>

export function createOwnFinder(parts: {
  readonly files: Pick<Files, 'findByToken' | 'read'>
  readonly library: Pick<Library, 'findByToken' | 'read'>
  readonly publicUrl: string
}): FindOwnContent {
  const { files, library } = parts
  const own = URL.parse(`${parts.publicUrl}/`)

  async function find(kind: string, token: string): Promise<OwnContent | undefined> {
    if (kind === 'files') {
      const file = await files.findByToken(token)
      if (!file) return undefined
      const { bytes, content_type: type } = file
      return { bytes: Number(bytes), type, read: (range) => files.read(file, range) }
    }
    const asset = await library.findByToken(token)
    if (asset?.state !== 'stored') return undefined
    const { bytes, content_type: type } = asset
    const read = (range?: ByteRange) => library.read(asset, range)
    return { bytes: Number(bytes), type: type ?? undefined, read }
  }

  return async (text) => {
    const url = URL.parse(text)
    if (!url || !own || url.origin !== own.origin || !url.pathname.startsWith(own.pathname)) {
      return undefined
    }
    const [kind = '', token = ''] = url.pathname.slice(own.pathname.length).split('/')
    if (kind !== 'files' && kind !== 'media') return undefined
    return (await find(kind, token)) ?? 'missing'
  }
}
