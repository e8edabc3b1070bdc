/** A moment: short in place, complete on hover. */
import { Tooltip } from '@mantine/core'
import { useEffect, useState } from 'react'
import { formatRelative, formatShortTime, formatTime } from '../lib/format.ts'
import { useLanguage } from '../lib/i18n.tsx'

interface TimeTextProps {
  readonly time: string | null | undefined
  /** `relative` (3 minutes ago) keeps itself up to date. */
  readonly form?: 'short' | 'full' | 'relative'
  /** Instead of nothing. */
  readonly absent?: string
}

const TICK_MS = 15_000

export function TimeText({ time, form = 'short', absent = '–' }: TimeTextProps) {
  const { language } = useLanguage()
  const nowMs = useNow(form === 'relative')
  if (!time) return <span>{absent}</span>
  const full = formatTime(time, language)
  const shown = {
    full,
    short: formatShortTime(time, language),
    relative: formatRelative(time, nowMs, language),
  }[form]
  const text = (
    <time dateTime={time} style={{ whiteSpace: 'nowrap' }}>
      {shown}
    </time>
  )
  return form === 'full' ? text : <Tooltip label={full}>{text}</Tooltip>
}

function useNow(isTicking: boolean): number {
  const [nowMs, setNowMs] = useState(() => Date.now())
  useEffect(() => {
    if (!isTicking) return undefined
    const timer = setInterval(() => setNowMs(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [isTicking])
  return nowMs
}
