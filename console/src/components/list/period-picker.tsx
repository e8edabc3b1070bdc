/** Chooses a period: a preset, or days (or times) of one's own. The one control for periods. */
import { Button, Group, Popover, Stack, TextInput, UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import { formatPeriod, fromLocalField, toLocalField } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import {
  fromDay,
  NO_PERIOD,
  type Period,
  PRESETS,
  periodOf,
  presetOf,
  toDay,
} from '../../lib/period.ts'
import { Icon } from '../icon.tsx'
import { messages } from './period-messages.ts'
import classes from './period-picker.module.css'

interface PeriodPickerProps {
  readonly value: Period
  readonly onChange: (period: Period) => void
  /** The name of no choice; by default any time. */
  readonly unset?: string
  /** True where the minute matters: outages are not over at midnight. */
  readonly withTime?: boolean
}

export function PeriodPicker({ value, onChange, unset, withTime = false }: PeriodPickerProps) {
  const t = useMessages(messages)
  const [isOpen, setOpen] = useState(false)
  const noChoice = unset ?? t('anyTime')
  const label = usePeriodName(value) ?? noChoice
  const now = new Date()
  const preset = presetOf(value, now)
  const isUnset = value.from === '' && value.to === ''
  const choose = (period: Period) => {
    onChange(period)
    setOpen(false)
  }
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" withinPortal trapFocus>
      <Popover.Target>
        <Button
          variant="default"
          size="xs"
          fw={400}
          leftSection={<Icon name="clock" size={14} />}
          rightSection={<Icon name="down" size={14} />}
          classNames={{ label: classes.label ?? '' }}
          aria-label={`${t('period')}: ${label}`}
          onClick={() => setOpen(!isOpen)}
        >
          {label}
        </Button>
      </Popover.Target>
      <Popover.Dropdown p="xs" aria-label={t('period')}>
        <Stack gap={0} miw={200}>
          <Choice label={noChoice} isChosen={isUnset} onChoose={() => choose(NO_PERIOD)} />
          {PRESETS.map((one) => (
            <Choice
              key={one}
              label={t(one)}
              isChosen={one === preset}
              onChoose={() => choose(periodOf(one, now))}
            />
          ))}
          <Custom value={value} onChange={onChange} withTime={withTime} />
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly isChosen: boolean
  readonly onChoose: () => void
}

function Choice({ label, isChosen, onChoose }: ChoiceProps) {
  return (
    <UnstyledButton className={classes.preset} aria-pressed={isChosen} onClick={onChoose}>
      {label}
      {isChosen ? <Icon name="check" size={14} /> : null}
    </UnstyledButton>
  )
}

function Custom({ value, onChange, withTime }: Omit<Required<PeriodPickerProps>, 'unset'>) {
  const t = useMessages(messages)
  const bound = (name: 'from' | 'to') => {
    const isEnd = name === 'to'
    const time = value[name]
    const shown = withTime && time !== '' ? toLocalField(new Date(time)) : toDay(time, isEnd)
    const read = (text: string) => (withTime ? fromLocalField(text) : fromDay(text, isEnd))
    return (
      <TextInput
        type={withTime ? 'datetime-local' : 'date'}
        size="xs"
        label={t(name)}
        value={shown}
        onChange={({ currentTarget }) => onChange({ ...value, [name]: read(currentTarget.value) })}
      />
    )
  }
  return (
    <fieldset aria-label={t('custom')} className={classes.custom}>
      <Group grow gap="xs">
        {bound('from')}
        {bound('to')}
      </Group>
    </fieldset>
  )
}

/** Returns the preset's name, else the days; undefined for no period. */
function usePeriodName(period: Period): string | undefined {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { from, to } = period
  const preset = presetOf(period, new Date())
  if (preset) return t(preset)
  if (from !== '' && to !== '') return formatPeriod(from, to, language)
  if (from !== '') return t('since', { time: formatPeriod(from, undefined, language) })
  return to === '' ? undefined : t('until', { time: formatPeriod(undefined, to, language) })
}
