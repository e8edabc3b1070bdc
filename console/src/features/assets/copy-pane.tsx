/** The copy without subtitles, its progress, or the button that creates it. */
import { Stack, Text, Tooltip } from '@mantine/core'
import { TextLink } from '../../components/links.tsx'
import { formatDuration, formatSpan, formatTime } from '../../lib/format.ts'
import { useNow } from '../../lib/hooks/use-now.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { EraseSubtitles } from './erase-subtitles.tsx'
import { AssetMedia } from './media.tsx'
import { messages } from './messages.ts'
import classes from './page.module.css'
import type { Pair } from './pair-assets.ts'

export function CopyPane({ pair: { asset, copy } }: { readonly pair: Pair }) {
  const t = useMessages(messages)
  if (copy) return <AssetMedia asset={copy} isBare />
  if (asset.erasing) return <Erasing {...asset.erasing} />
  const { erase_until: until } = asset
  return (
    <Stack gap={8} align="center" justify="center" className={classes.blank}>
      {until && Date.parse(until) > Date.now() ? (
        <>
          <EraseSubtitles taskId={asset.task_id} />
          <TimeLeft until={until} />
        </>
      ) : (
        <span>{t('tooOld')}</span>
      )}
    </Stack>
  )
}

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS

/** Subtitles can be erased from videos that are less than 23 hours old. */
function TimeLeft({ until }: { readonly until: string }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const leftMs = Date.parse(until) - useNow(MINUTE_MS)
  return (
    <Tooltip label={t('timeLeftText', { time: formatTime(until, language) })}>
      <Text size="xs" component="time" dateTime={until}>
        {t('timeLeft', { time: formatSpan(leftMs, language) })}
      </Text>
    </Tooltip>
  )
}

interface ErasingProps {
  readonly task_id: string
  readonly since: string
}

function Erasing({ task_id: taskId, since }: ErasingProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const passedMs = useNow(SECOND_MS) - Date.parse(since)
  return (
    <Stack gap={4} align="center" justify="center" className={classes.blank}>
      <span>{t('erasing', { time: formatDuration(Math.max(0, passedMs), language) })}</span>
      <TextLink to="/tasks" search={{ id: taskId }} size="xs">
        {t('follow')}
      </TextLink>
    </Stack>
  )
}
