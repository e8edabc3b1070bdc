/** All attacks. */
import type { Attack } from './attack.ts'
import { BODY_ATTACKS } from './bodies.ts'
import { FLOOD_ATTACKS } from './floods.ts'
import { LIE_ATTACKS } from './lies.ts'
import { SLOW_ATTACKS } from './slow.ts'

export const ATTACKS: readonly Attack[] = [
  ...BODY_ATTACKS,
  ...FLOOD_ATTACKS,
  ...SLOW_ATTACKS,
  ...LIE_ATTACKS,
]
