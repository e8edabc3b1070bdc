/** A video beside its copy without subtitles; other assets by themselves. */
import { ActionIcon, Group, Text, UnstyledButton } from '@mantine/core'
import { type RefObject, useRef, useState } from 'react'
import { Icon } from '../../components/icon.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import { formatNumber } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { CopyPane } from './copy-pane.tsx'
import { AssetMedia } from './media.tsx'
import { messages } from './messages.ts'
import classes from './page.module.css'
import type { Asset, Pair } from './pair-assets.ts'

interface AssetCardProps {
  readonly pair: Pair
  readonly onOpen: () => void
}

export function AssetCard({ pair, onOpen }: AssetCardProps) {
  const t = useMessages(messages)
  const { asset, poster } = pair
  const { kind } = asset
  const isVideo = kind === 'video'
  const panes = useRef<HTMLDivElement>(null)
  return (
    <li className={classes.card}>
      <div className={isVideo ? classes.panes : undefined} ref={panes}>
        <figure className={classes.pane}>
          <figcaption className={classes.caption}>
            {t(isVideo || kind === 'image' ? 'original' : kind)}
          </figcaption>
          <AssetMedia asset={asset} poster={poster} isBare />
        </figure>
        {isVideo ? (
          <figure className={classes.pane}>
            <figcaption className={classes.caption}>{t('withoutSubtitles')}</figcaption>
            <CopyPane pair={pair} />
          </figure>
        ) : null}
      </div>
      <Group justify="space-between" gap={8} wrap="nowrap" className={classes.foot}>
        {kind === 'last_frame' || asset.copy.state !== 'stored' ? null : (
          <PlayButton panes={panes} />
        )}
        <UnstyledButton
          onClick={onOpen}
          className={classes.name}
          aria-label={t('open', { name: asset.model })}
        >
          {asset.model}
        </UnstyledButton>
        <Facts asset={asset} />
      </Group>
    </li>
  )
}

function Facts({ asset }: { readonly asset: Asset }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { duration, created_at: created } = asset
  return (
    <Text size="xs" c="dimmed" component="span" style={{ whiteSpace: 'nowrap' }}>
      {duration ? `${t('seconds', { count: formatNumber(duration, language, 1) })} · ` : ''}
      <TimeText time={created} form="relative" />
    </Text>
  )
}

/** Plays original and copy side by side, in sync. */
function PlayButton({ panes }: { readonly panes: RefObject<HTMLDivElement | null> }) {
  const t = useMessages(messages)
  const [isPlaying, setPlaying] = useState(false)
  const toggle = () => {
    const videos = [...(panes.current?.querySelectorAll('video') ?? [])]
    const [first] = videos
    if (!first) return
    first.onended = () => setPlaying(false)
    for (const video of videos) {
      if (isPlaying) video.pause()
      else {
        video.currentTime = first.ended ? 0 : first.currentTime
        video.play().catch(() => setPlaying(false))
      }
    }
    setPlaying(!isPlaying)
  }
  return (
    <ActionIcon variant="default" onClick={toggle} aria-label={t(isPlaying ? 'pause' : 'play')}>
      <Icon name={isPlaying ? 'pause' : 'play'} size={15} />
    </ActionIcon>
  )
}
