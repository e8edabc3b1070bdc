/** The state of a model in a word or two, with the sentence on hover; the details show it whole. */
import { VisuallyHidden } from '@mantine/core'
import { StatusBadge, type Tone } from '../../components/state/status-badge.tsx'
import { WorkStatus } from '../../components/state/work-status.tsx'
import { HoverLabel } from '../../components/text/hover-label.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { useMessages, useServerText } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'
import { sortProblems, useProblemWords } from './price-problems.tsx'
import { useToolName } from './taken-out.tsx'

type Row = AdminAnswer<'GET /operator/models'>['data'][number]

/** The gateway's warnings; one that the console does not know is just a warning. */
const SHORT_WARNINGS = new Map([
  ['no route: calls are refused', 'noRoute'],
  ['no route leads to a usable channel', 'noRoute'],
  ['some routes lead to channels that cannot be used', 'someRoutes'],
  ['no price: calls are refused', 'noPrice'],
  ['its prices are examples: set your own', 'examplePrices'],
] as const)

/** Sort order: losses, then problems, then tools that are taken out, then planned prices. */
export function ModelState({ row }: { readonly row: Row }) {
  const t = useMessages(messages)
  const say = useProblemWords()
  const textOf = useServerText()
  const nameOf = useToolName()
  const { status, warnings, price_problems: problems, planned_prices: plans } = row
  const [loss] = sortProblems(problems).filter(({ problem }) => problem !== 'unknown_cost')
  if (status === 'active' && loss) {
    const label = t(loss.problem === 'unpriced' ? 'unpricedState' : 'belowCostState')
    return <ShortState tone="bad" label={label} sentence={say(loss)} />
  }
  const [warning] = warnings
  if (warning !== undefined) {
    const short = [...SHORT_WARNINGS].find(([text]) => text === warning)?.[1] ?? 'warning'
    return <ShortState tone="warning" label={t(short)} sentence={textOf(warning)} />
  }
  const [takenOut] = status === 'active' ? row.tools_taken_out : []
  if (takenOut) {
    const sentence = t('takenOutSentence', { tool: nameOf(takenOut.tool) })
    return <ShortState tone="quiet" label={t('takenOutState')} sentence={sentence} />
  }
  if (plans.length > 0) return <StatusBadge tone="busy" label={t('planned')} />
  return <WorkStatus status={status} />
}

interface ShortStateProps {
  readonly tone: Tone
  readonly label: string
  readonly sentence: string
}

function ShortState({ tone, label, sentence }: ShortStateProps) {
  return (
    <HoverLabel label={() => sentence}>
      <StatusBadge tone={tone} label={label} />
      <VisuallyHidden>{sentence}</VisuallyHidden>
    </HoverLabel>
  )
}
