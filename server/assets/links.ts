/** Public links to stored content: an unguessable token and a file name. */
export const TOKEN_CHARACTERS = 40

/** File names that browsers save media under, by kind. */
const NAMES = { image: 'image', video: 'video', last_frame: 'last-frame', erased: 'erased' }

interface LinkedAsset {
  readonly token: string
  readonly kind: keyof typeof NAMES
  readonly content_type: string | null
}

export function linkTo(publicUrl: string, asset: LinkedAsset): string {
  return `${publicUrl}/media/${asset.token}/${filenameOf(asset)}`
}

export function linkToFile(
  publicUrl: string,
  file: { readonly token: string; readonly filename: string },
): string {
  return `${publicUrl}/files/${file.token}/${encodeURIComponent(file.filename)}`
}

function filenameOf(asset: Pick<LinkedAsset, 'kind' | 'content_type'>): string {
  const [, subtype = ''] = /^[a-z]+\/(\w+)$/.exec(asset.content_type ?? '') ?? []
  const ending = subtype === 'jpeg' ? '.jpg' : subtype === '' ? '' : `.${subtype}`
  return `${NAMES[asset.kind]}${ending}`
}
