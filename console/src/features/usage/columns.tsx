/** Columns of the usage records: those shown and their order come from the address. */
import { Button, Checkbox, Popover, Stack } from '@mantine/core'
import { Icon } from '../../components/icon.tsx'
import { type RowFields, useColumns, type Wording } from '../../components/list/fields.tsx'
import { WorkStatus } from '../../components/state/work-status.tsx'
import { OneLine } from '../../components/text/one-line.tsx'
import { formatNumber } from '../../lib/format.ts'
import { useMessages } from '../../lib/i18n.tsx'
import type { RowOf } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

type Call = RowOf<'GET /accounts/:account_id/usage'>

type Words = (typeof messages)['en']
type ColumnName = Extract<keyof Words, string>

/** A column, and the members of a record that an export writes for it: by default its own. */
type CallField = RowFields<Call, Words>[number] & {
  readonly word: ColumnName
  readonly exports?: readonly string[]
}

const FIGURE = { align: 'right', minor: true } as const

const FIELDS: readonly CallField[] = [
  { key: 'created_at', word: 'time', as: 'time' },
  { key: 'model', word: 'model', as: 'line' },
  { key: 'endpoint', word: 'endpoint', as: 'line', minor: true },
  { key: 'key_name', word: 'key', as: 'line', minor: true, exports: ['key_id', 'key_name'] },
  {
    word: 'member',
    minor: true,
    exports: ['member'],
    show: ({ member }) => <OneLine text={member || '–'} />,
  },
  {
    word: 'tags',
    minor: true,
    exports: ['tags'],
    show: ({ tags }) => <OneLine text={tags.join(', ') || '–'} />,
  },
  {
    word: 'endUser',
    minor: true,
    exports: ['end_user'],
    show: ({ end_user: name }) => <OneLine text={name ?? '–'} />,
  },
  {
    word: 'status',
    exports: ['status', 'review', 'error'],
    show: ({ review, status }) => <WorkStatus status={review ? 'review' : status} />,
  },
  { word: 'input', ...FIGURE, ...showTokens('input_tokens') },
  { word: 'cached', ...FIGURE, ...showTokens('cached_input_tokens') },
  { word: 'output', ...FIGURE, ...showTokens('output_tokens') },
  { key: 'first_response_ms', word: 'first', as: 'duration', minor: true },
  {
    word: 'rate',
    ...FIGURE,
    exports: ['output_tokens_per_second'],
    show: ({ output_tokens_per_second: rate }, { t, language }) =>
      rate === null ? '–' : t('perSecond', { count: formatNumber(rate, language, 1) }),
  },
  { key: 'duration_ms', word: 'duration', as: 'duration', minor: true },
  { key: 'held', word: 'held', as: 'money', minor: true },
  { key: 'charged', word: 'charged', as: 'money', exports: ['charged', 'currency'] },
  { key: 'list_amount', word: 'listAmount', as: 'money', minor: true },
  {
    key: 'price_list',
    word: 'priceList',
    as: 'line',
    minor: true,
    exports: ['price_list', 'price_version'],
  },
]

function showTokens(name: 'input_tokens' | 'cached_input_tokens' | 'output_tokens') {
  const show = (row: Call, { language }: Pick<Wording<Words>, 'language'>) =>
    row[name] > 0 ? formatNumber(row[name], language) : '–'
  return { exports: [name], show }
}

const NAMES = FIELDS.map(({ word }) => word)
const SHOWN: readonly ColumnName[] = [
  ...(['time', 'model', 'key', 'status', 'input', 'output', 'duration', 'charged'] as const),
]

/** Reads `model,charged` of the address; unknown names are ignored, none means the usual ones. */
export function readColumnNames(text: string): readonly ColumnName[] {
  const chosen = new Set<string>(text.split(','))
  const known = NAMES.filter((name) => chosen.has(name))
  return known.length > 0 ? known : SHOWN
}

const fieldsOf = (names: readonly ColumnName[]) => FIELDS.filter(({ word }) => names.includes(word))

export function exportedMembers(names: readonly ColumnName[]): string {
  const members = fieldsOf(names).flatMap(({ key, exports = [String(key)] }) => exports)
  return ['request_id', ...members].join(',')
}

export function useCallColumns(names: readonly ColumnName[]) {
  return useColumns(messages, fieldsOf(names))
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
    <Popover position="bottom-end" withinPortal trapFocus>
      <Popover.Target>
        <Button variant="default" leftSection={<Icon name="filter" size={16} />}>
          {t('columns')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t('columns')}>
        <Checkbox.Group aria-label={t('columns')} value={[...names]} onChange={choose}>
          <Stack gap="xs">
            {NAMES.map((name) => (
              <Checkbox key={name} size="xs" value={name} label={t(name)} />
            ))}
          </Stack>
        </Checkbox.Group>
      </Popover.Dropdown>
    </Popover>
  )
}
