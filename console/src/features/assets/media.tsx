/** A stored video or picture, else the reason why it is not available yet. */
import { Image } from '@mantine/core'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'
import classes from './page.module.css'
import type { Asset } from './pair-assets.ts'

interface MediaProps {
  readonly asset: Asset
  readonly poster?: string | undefined
  /** True to hide the controls, which would cover the subtitles. */
  readonly isBare?: boolean
}

export function AssetMedia({ asset, poster, isBare = false }: MediaProps) {
  const t = useMessages(messages)
  const { url, kind, copy } = asset
  if (!url || copy.state !== 'stored') {
    return <div className={classes.blank}>{t(copy.state === 'failed' ? 'failed' : 'copying')}</div>
  }
  if (kind === 'last_frame') return <Image src={url} alt={t(kind)} className={classes.media} />
  return (
    <video
      src={url}
      controls={!isBare}
      playsInline
      preload="metadata"
      className={classes.media}
      aria-label={kind === 'image' ? undefined : t(kind)}
      {...(poster ? { poster } : {})}
    />
  )
}
