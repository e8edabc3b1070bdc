/** A bar of what is spent and on hold of a budget, with its figures. */
import { Progress, Stack } from '@mantine/core'
import { formatNumber } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { type AccountBudget, sharesOf, stateOf, wordQuantity } from './budget.ts'
import { messages } from './messages.ts'
import classes from './usage-bar.module.css'

const COLORS = { free: 'river', nearly: 'orange.6', full: 'red' } as const

interface UsageBarProps {
  readonly budget: AccountBudget
  readonly isLarge?: boolean
}

/** The figures stand below the bar, and the budget beside it: the colors only repeat them. */
export function UsageBar({ budget, isLarge = false }: UsageBarProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const word = (quantity: string) => wordQuantity(budget, quantity, language)
  const figures = { spent: word(budget.spent), held: word(budget.held) }
  if (budget.end_users) {
    const count = formatNumber(budget.end_users_counted ?? 0, language)
    return <span className={classes.caption}>{t('barEach', { ...figures, count })}</span>
  }
  const text = t('bar', { ...figures, limit: word(budget.amount) })
  const { spent, held } = sharesOf(budget)
  const color = COLORS[stateOf(budget)]
  return (
    <Stack gap={4}>
      <Progress.Root size={isLarge ? 10 : 6} miw={120} role="img" aria-label={text}>
        <Progress.Section value={spent} color={color} withAria={false} />
        <Progress.Section
          value={held}
          color={color}
          withAria={false}
          className={classes.held ?? ''}
        />
      </Progress.Root>
      <span className={classes.caption}>{t('barShort', figures)}</span>
    </Stack>
  )
}
