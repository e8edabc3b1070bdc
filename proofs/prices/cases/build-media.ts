/** The frame of every case of media: one request, and a vendor that may bend its usage. */
import type { Random } from '../../../testbed/random.ts'
import { BENDS } from '../answers/bend.ts'
import type { AnswerPlan, Case, Expectation, WorkPlan } from '../plan.ts'
import { DEFAULT_SERVED } from '../sheet.ts'

const NOTHING_PLANNED: WorkPlan = {
  tokensPerThousandBytes: 0,
  hiddenInput: 0,
  shares: {},
  fixed: {},
  reasoning: 0,
  served: DEFAULT_SERVED,
  passes: [],
}
export const PLAIN: AnswerPlan = { form: 'plain', placement: 'usage' }
const BROKEN_SHARE = 0.15

interface Parts {
  readonly dialect: Case['dialect']
  readonly model: string
  readonly path: string
  readonly body: object
  readonly work: Partial<WorkPlan>
  readonly tricks?: readonly string[]
}

/** Returns a case; some break off, or state their usage bent. */
export function build(random: Random, id: number, parts: Parts): Case {
  const { dialect, model, path, body, work, tricks = [] } = parts
  const breakage = random.next() < BROKEN_SHARE ? pickBend(random) : undefined
  const answer = breakage === undefined ? PLAIN : { ...PLAIN, breakage }
  return {
    id,
    dialect,
    model,
    path,
    answer,
    headers: {},
    body: JSON.stringify(body),
    stream: dialect === 'speech',
    work: { ...NOTHING_PLANNED, ...work },
    expected: expectationOf(breakage),
    tricks: breakage === undefined ? tricks : [...tricks, `broken: ${breakage}`],
  }
}

function pickBend(random: Random): string {
  const [first = 'missing', ...rest] = Object.keys(BENDS)
  return random.pick([first, ...rest])
}

function expectationOf(breakage: string | undefined): Expectation {
  if (breakage === undefined) return 'full'
  return BENDS[breakage]?.remains === 'none' ? 'none' : 'part'
}
