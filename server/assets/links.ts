/** Public addresses of what is in our storage: a token that nobody can guess, and a name. */
import type { AssetRow } from './library/asset-store.ts'
import type { FileRow } from './uploads/file-store.ts'

export const TOKEN_CHARACTERS = 40

type Linked = Pick<AssetRow, 'token' | 'kind' | 'content_type'>

export function linkTo(publicUrl: string, asset: Linked): string {
  return `${publicUrl}/media/${asset.token}/${filenameOf(asset)}`
}

export function linkToFile(publicUrl: string, file: Pick<FileRow, 'token' | 'filename'>): string {
  return `${publicUrl}/files/${file.token}/${encodeURIComponent(file.filename)}`
}

/** The name under which a browser saves it. */
function filenameOf(asset: Pick<AssetRow, 'kind' | 'content_type'>): string {
  const names = { image: 'image', video: 'video', last_frame: 'last-frame', erased: 'erased' }
  const [, subtype = ''] = /^[a-z]+\/(\w+)$/.exec(asset.content_type ?? '') ?? []
  const ending = subtype === 'jpeg' ? '.jpg' : subtype === '' ? '' : `.${subtype}`
  return `${names[asset.kind]}${ending}`
}
