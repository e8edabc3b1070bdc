/** Words problems with a model's prices. */
import { usePriceWords } from '../../components/prices/price-words.ts'
import { Notice } from '../../components/state/notice.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'

interface Problem {
  readonly problem: 'unpriced' | 'below_cost' | 'unknown_cost'
  readonly unit: string | null
  readonly channel: string | null
}

/** A problem as a sentence. */
export function useProblemWords() {
  const t = useMessages(messages)
  const words = usePriceWords()
  return ({ problem, unit, channel }: Problem): string => {
    const values = { unit: words.units(unit ?? ''), channel: channel ?? '' }
    if (problem === 'unpriced') return t('unpriced', { unit: values.unit })
    if (problem === 'below_cost') return t('belowCost', values)
    return t('unknownCost', { channel: values.channel })
  }
}

/** Sorts losses before unknown costs. */
export function sortProblems<One extends Problem>(problems: readonly One[]): One[] {
  const rank = ({ problem }: One) => (problem === 'unknown_cost' ? 1 : 0)
  return problems.toSorted((a, b) => rank(a) - rank(b))
}

export function PriceProblems({ problems }: { readonly problems: readonly Problem[] }) {
  const say = useProblemWords()
  return sortProblems(problems).map((problem) => (
    <Notice
      key={JSON.stringify(problem)}
      tone={problem.problem === 'unknown_cost' ? 'info' : 'bad'}
      title={say(problem)}
    />
  ))
}
