/** A chart's figures as a table for screen readers. */
import { VisuallyHidden } from '@mantine/core'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { messages } from '../messages.ts'
import type { BucketStep } from './fill-buckets.ts'
import type { Point, Series } from './points.ts'
import { slotLabel } from './slot-label.ts'

interface ChartTableProps {
  readonly label: string
  readonly points: readonly Point[]
  readonly series: readonly Series[]
  readonly step: BucketStep
}

export function ChartTable({ label, points, series, step }: ChartTableProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const known = points.filter(({ values }) => values.some((value) => value))
  return (
    <VisuallyHidden>
      <table>
        <caption>{`${label}: ${t('chartTable')}`}</caption>
        <thead>
          <tr>
            <th>{t('time')}</th>
            {series.map((one) => (
              <th key={one.label}>{one.label}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {known.map(({ at, texts }) => (
            <tr key={at}>
              <th>{slotLabel(at, step, language, 'long')}</th>
              {series.map((one, index) => (
                <td key={one.label}>{texts[index]}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </VisuallyHidden>
  )
}
