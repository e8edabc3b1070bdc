/** The members of a row, listed once: the columns of its list and the facts of its drawer. */
import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { formatDuration, formatNumber } from '../../lib/format.ts'
import { useLanguage, useMessages, useServerText } from '../../lib/i18n.tsx'
import type { Language } from '../../lib/language.ts'
import { type Catalogue, type Names, nameIn } from '../../lib/texts.ts'
import { useWorkKind } from '../state/work-kind.ts'
import { WorkStatus } from '../state/work-status.tsx'
import { AccountName } from '../text/account-name.tsx'
import { CopyText } from '../text/copy-button.tsx'
import { type Fact, KeyValue } from '../text/key-value.tsx'
import { MoneyText } from '../text/money-text.tsx'
import { OneLine } from '../text/one-line.tsx'
import { TimeText } from '../text/time-text.tsx'
import type { Column } from './row-table.tsx'

export type Texts = Readonly<Record<string, string>>
type WordOf<Words> = Extract<keyof Words, string>

/** The means of wording a value. */
export interface Wording<Words extends Texts> {
  readonly t: ReturnType<typeof useMessages<Words>>
  readonly language: Language
  /** Words a text of the gateway. */
  readonly textOf: (text: string) => string
  /** Names the kind of a task. */
  readonly kindName: (kind: string) => string
}

/** The same, and where the value is shown: as a fact of a drawer, else in a list. */
interface Showing<Words extends Texts = Texts> extends Wording<Words> {
  readonly isFact: boolean
  readonly currency: string
  readonly places: number | undefined
}

/** The forms of values; in a drawer times and amounts are shown in full. */
const TEXTS = {
  text: (value: string) => value,
  line: (value: string) => <OneLine text={value} />,
  mono: (value: string) => (
    <Text ff="monospace" size="xs">
      {value}
    </Text>
  ),
  copy: (value: string) => <CopyText value={value} />,
  status: (value: string) => <WorkStatus status={value} />,
  /** The kind of a task or the type of a model. */
  kind: (value: string, { kindName }: Showing) => kindName(value),
  /** A text of the gateway. */
  words: (value: string, { textOf }: Showing) => textOf(value),
  time: (value: string, { isFact }: Showing) => (
    <TimeText time={value} form={isFact ? 'full' : 'short'} />
  ),
  /** A time, relative to now in a list. */
  ago: (value: string, { isFact }: Showing) => (
    <TimeText time={value} form={isFact ? 'full' : 'relative'} />
  ),
  money: (value: string, { currency, isFact, places }: Showing) => (
    <MoneyText
      amount={value}
      currency={currency}
      {...(isFact ? { places: 'exact' } : places === undefined ? {} : { places })}
    />
  ),
}
const NUMBERS = {
  number: (value: number) => value,
  count: (value: number, { language }: Showing) => formatNumber(value, language),
  duration: (value: number, { language }: Showing) => formatDuration(value, language),
}
const FORMS = { ...TEXTS, ...NUMBERS } as const
const FIGURES: readonly string[] = ['money', ...Object.keys(NUMBERS)]

type FormOf<Value> = Value extends string
  ? keyof typeof TEXTS
  : Value extends number
    ? keyof typeof NUMBERS
    : never

type Absent<Words> = WordOf<Words> | '–'

interface Placing<Words extends Texts>
  extends Pick<Column<never>, 'align' | 'minor' | 'wide' | 'isPlain' | 'isBroad' | 'noPrint'> {
  /** By default both. */
  readonly in?: 'list' | 'details'
  /** Its place among the columns; without one it follows those with one, in the order of facts. */
  readonly place?: number
  /** Decimal places of an amount in a list. */
  readonly places?: number
  /** Shown for null, or in a list and as a fact; by default a dash in a list, and no fact. */
  readonly absent?: Absent<Words> | readonly [list: Absent<Words>, fact: Absent<Words>]
}

/** A word of the page, or both languages' names where no other field and no filter has the word. */
type Named<Words extends Texts> =
  | { readonly word: WordOf<Words>; readonly names?: undefined }
  | { readonly word?: undefined; readonly names: Names }

type Keyed<Row, Words extends Texts> = {
  readonly [Key in Extract<keyof Row, string>]: Placing<Words> & {
    readonly key: Key
    /** By default a text, or a number. */
    readonly as?: FormOf<Row[Key]>
  } & (Key extends keyof Words ? Partial<Named<Words>> : Named<Words>)
}[Extract<keyof Row, string>]

/** A value made from several members; undefined and null are no fact. */
interface Made<Row, Words extends Texts> extends Placing<Words> {
  readonly key?: undefined
  /** Without a word, the column has buttons, or the fact continues the one before. */
  readonly word?: WordOf<Words>
  /** True to add the time zone to the header. */
  readonly isTime?: boolean
  readonly show: (row: Row, showing: Showing<Words>) => ReactNode
}

export type RowFields<Row, Words extends Texts> = readonly (Keyed<Row, Words> | Made<Row, Words>)[]

/** A field as it is read here: its members fit its row by the types above. */
type Any = Placing<Texts> & {
  readonly key?: string
  readonly word?: string
  readonly names?: Names
  readonly as?: keyof typeof FORMS
  readonly isTime?: boolean
  readonly show?: (row: unknown, showing: unknown) => ReactNode
}

function useReader<Row, Words extends Texts>(messages: Catalogue<Words>, currency?: string) {
  const wording = useWording(messages)
  const t = (word: string) => messages[wording.language][word] ?? ''
  return {
    labelOf: ({ word, names, key }: Any) =>
      names ? nameIn(wording.language, names) : t(word ?? key ?? ''),
    read: (field: Any, row: Row, isFact: boolean): ReactNode => {
      const members = row as Readonly<Record<string, unknown>> & { readonly currency?: string }
      const used = currency ?? String(members.currency)
      const showing = { ...wording, isFact, currency: used, places: field.places }
      if (field.show) return field.show(row, showing)
      const value = members[field.key ?? '']
      if (value === null || value === undefined) {
        const { absent = ['–', undefined] } = field
        const word = typeof absent === 'string' ? absent : absent[isFact ? 1 : 0]
        return word && (word === '–' ? word : t(word))
      }
      const form = FORMS[field.as ?? (typeof value === 'number' ? 'number' : 'text')]
      return (form as (value: unknown, showing: unknown) => ReactNode)(value, showing)
    },
  }
}

export function useWording<Words extends Texts>(messages: Catalogue<Words>): Wording<Words> {
  const t = useMessages(messages)
  const { language } = useLanguage()
  return { t, language, textOf: useServerText(), kindName: useWorkKind() }
}

/** The columns of a list; `currency` is that of rows that name none. */
export function useColumns<Row, Words extends Texts>(
  messages: Catalogue<Words>,
  fields: RowFields<Row, Words>,
  currency?: string,
): readonly Column<Row>[] {
  const { labelOf, read } = useReader<Row, Words>(messages, currency)
  return (fields as readonly Any[])
    .filter((field) => field.in !== 'details')
    .toSorted((one, other) => (one.place ?? fields.length) - (other.place ?? fields.length))
    .map((field, index) => {
      const { as, align = FIGURES.includes(as ?? '') ? 'right' : undefined } = field
      return {
        ...field,
        key: field.word ?? field.key ?? String(index),
        header: labelOf(field),
        render: (row) => read(field, row, false),
        isTime: field.isTime ?? as === 'time',
        ...(align && { align }),
      }
    })
}

interface FieldFactsProps<Row, Words extends Texts> {
  readonly messages: Catalogue<Words>
  readonly fields: RowFields<Row, Words>
  readonly row: Row
  readonly currency?: string
}

/** The facts of one row. */
export function FieldFacts<Row, Words extends Texts>(props: FieldFactsProps<Row, Words>) {
  const { labelOf, read } = useReader<Row, Words>(props.messages, props.currency)
  const facts = (props.fields as readonly Any[])
    .filter((field) => field.in !== 'list')
    .map((field): Fact => ({ label: labelOf(field), value: read(field, props.row, true) }))
  return <KeyValue facts={facts} />
}

/** Names an account, `account_id` and `account_name`, as rows of all accounts do. */
export function showOwner(
  row: { readonly account_id: string; readonly account_name: string },
  { isFact }: { readonly isFact: boolean },
): ReactNode {
  const { account_id: id, account_name: name } = row
  return isFact ? `${name} · ${id}` : <AccountName id={id} name={name} />
}
