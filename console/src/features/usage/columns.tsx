/** Columns of the usage records: those shown and their order come from the address. */
import { Button, Checkbox, Popover, Stack } from '@mantine/core'
import { Icon } from '../../components/icon.tsx'
import type { Column } from '../../components/list/data-table.tsx'
import { WorkStatus } from '../../components/state/work-status.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { OneLine } from '../../components/text/one-line.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import { formatDuration, formatNumber } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import type { RowOf } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

type Call = RowOf<'GET /accounts/:account_id/usage'>

/** Each column with the members of a record that an export writes for it. */
const EXPORTED = {
  time: ['created_at'],
  model: ['model'],
  endpoint: ['endpoint'],
  key: ['key_id', 'key_name'],
  member: ['member'],
  status: ['status', 'review', 'error'],
  input: ['input_tokens'],
  cached: ['cached_input_tokens'],
  output: ['output_tokens'],
  first: ['first_response_ms'],
  rate: ['output_tokens_per_second'],
  duration: ['duration_ms'],
  held: ['held'],
  charged: ['charged', 'currency'],
} as const

export type ColumnName = keyof typeof EXPORTED
const NAMES = Object.keys(EXPORTED) as ColumnName[]
const SHOWN: readonly ColumnName[] = [
  ...(['time', 'model', 'key', 'status', 'input', 'output', 'duration', 'charged'] as const),
]

/** Reads `model,charged` of the address; unknown names are ignored, none means the usual ones. */
export function readColumnNames(text: string): readonly ColumnName[] {
  const chosen = new Set(text.split(','))
  const known = NAMES.filter((name) => chosen.has(name))
  return known.length > 0 ? known : SHOWN
}

export function exportedMembers(names: readonly ColumnName[]): string {
  return ['request_id', ...names.flatMap((name) => EXPORTED[name])].join(',')
}

export function useCallColumns(names: readonly ColumnName[]): Column<Call>[] {
  const all = useAllColumns()
  return names.map((name) => ({ key: name, ...all[name] }))
}

function useAllColumns(): Readonly<Record<ColumnName, Omit<Column<Call>, 'key'>>> {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const money = (amount: string, { currency }: Call) => (
    <MoneyText amount={amount} currency={currency} />
  )
  const right = { align: 'right', minor: true } as const
  const count = (value: number) => (value > 0 ? formatNumber(value, language) : '–')
  const duration = (ms: number | null) => (ms === null ? '–' : formatDuration(ms, language))
  const of = (name: ColumnName) => ({ header: t(name) })
  return {
    time: { ...of('time'), render: (row) => <TimeText time={row.created_at} />, isTime: true },
    model: { ...of('model'), render: (row) => <OneLine text={row.model} /> },
    endpoint: { ...of('endpoint'), render: (row) => <OneLine text={row.endpoint} />, minor: true },
    key: { ...of('key'), render: (row) => <OneLine text={row.key_name} />, minor: true },
    member: { ...of('member'), render: (row) => <OneLine text={row.member || '–'} />, minor: true },
    status: {
      ...of('status'),
      render: (row) => <WorkStatus status={row.review ? 'review' : row.status} />,
    },
    input: { ...of('input'), ...right, render: (row) => count(row.input_tokens) },
    cached: { ...of('cached'), ...right, render: (row) => count(row.cached_input_tokens) },
    output: { ...of('output'), ...right, render: (row) => count(row.output_tokens) },
    first: { ...of('first'), ...right, render: (row) => duration(row.first_response_ms) },
    rate: {
      ...of('rate'),
      ...right,
      render: ({ output_tokens_per_second: rate }) =>
        rate === null ? '–' : t('perSecond', { count: formatNumber(rate, language, 1) }),
    },
    duration: { ...of('duration'), ...right, render: (row) => duration(row.duration_ms) },
    held: { ...of('held'), ...right, render: (row) => money(row.held, row) },
    charged: { ...of('charged'), align: 'right', render: (row) => money(row.charged, row) },
  }
}

interface ColumnChoiceProps {
  readonly names: readonly ColumnName[]
  /** '' for the usual columns. */
  readonly onChange: (text: string) => void
}

export function ColumnChoice({ names, onChange }: ColumnChoiceProps) {
  const t = useMessages(messages)
  const choose = (chosen: readonly string[]) => {
    const text = NAMES.filter((name) => chosen.includes(name)).join(',')
    onChange(text === SHOWN.join(',') ? '' : text)
  }
  return (
    <Popover position="bottom-end" withinPortal>
      <Popover.Target>
        <Button variant="default" leftSection={<Icon name="filter" size={16} />}>
          {t('columns')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Checkbox.Group aria-label={t('columns')} value={[...names]} onChange={choose}>
          <Stack gap={6}>
            {NAMES.map((name) => (
              <Checkbox key={name} size="xs" value={name} label={t(name)} />
            ))}
          </Stack>
        </Checkbox.Group>
      </Popover.Dropdown>
    </Popover>
  )
}
