/** Public links to stored content: an unguessable token and a file name. */
export const TOKEN_CHARACTERS = 40

/** File names that browsers save media under, by kind. */
const NAMES = { image: 'image', video: 'video', last_frame: 'last-frame', erased: 'erased' }

/** File extensions by kind, used while the type of the content is unknown. */
const ENDINGS = { image: 'png', video: 'mp4', last_frame: 'png', erased: 'mp4' }
const KNOWN_ENDINGS: ReadonlySet<string> = new Set('png jpg webp gif mp4 webm'.split(' '))

interface LinkedAsset {
  readonly token: string
  readonly kind: keyof typeof NAMES
  /** null until the content has been copied. */
  readonly content_type: string | null
  /** The vendor's link, which may show the extension before that. */
  readonly source_url?: string
}

/**
 * Returns the public link to an asset. Any file name leads to it, so a link stays valid if the copy
 * turns out to be of a type other than its name indicated.
 */
export function linkTo(publicUrl: string, asset: LinkedAsset): string {
  return `${publicUrl}/media/${asset.token}/${filenameOf(asset)}`
}

export function linkToFile(
  publicUrl: string,
  file: { readonly token: string; readonly filename: string },
): string {
  return `${publicUrl}/files/${file.token}/${encodeURIComponent(file.filename)}`
}

function filenameOf(asset: LinkedAsset): string {
  const ending = endingOf(asset)
  return `${NAMES[asset.kind]}${ending === '' ? '' : `.${ending}`}`
}

function endingOf({ kind, content_type: type, source_url: source }: LinkedAsset): string {
  if (type === null) return endingOfUrl(source) ?? ENDINGS[kind]
  const [, subtype = ''] = /^[a-z]+\/(\w+)$/.exec(type) ?? []
  return subtype === 'jpeg' ? 'jpg' : subtype
}

function endingOfUrl(source: string | undefined): string | undefined {
  const [, ending = ''] = /\.(\w{1,5})$/.exec(URL.parse(source ?? '')?.pathname ?? '') ?? []
  const known = ending.toLowerCase().replace('jpeg', 'jpg')
  return KNOWN_ENDINGS.has(known) ? known : undefined
}
