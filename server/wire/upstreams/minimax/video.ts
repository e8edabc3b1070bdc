/** Video tasks of the vendor; the model decides between its two protocols. */
import { correctRules } from '../../dialects/video/content.ts'
import type { TaskDriver } from '../task-driver.ts'
import { firstRulesOf, rulesOf } from './models.ts'
import type { MinimaxSettings } from './settings.ts'
import { callbacks } from './submit.ts'
import { videoV1 } from './video-v1.ts'
import { videoV2 } from './video-v2.ts'

/** The generations before H3: Hailuo, and the 01 models for text, images and subjects. */
const FIRST = /hailuo|^[tis]2v-/i

function driverOf({ upstreamModel }: { readonly upstreamModel: string }) {
  return FIRST.test(upstreamModel) ? videoV1 : videoV2
}

export const minimaxVideo: TaskDriver<MinimaxSettings> = {
  prepare: (order) => driverOf(order).prepare(order),
  submit: (wire, order, attempt) => driverOf(order).submit(wire, order, attempt),
  poll: (wire, reference) => driverOf(reference).poll(wire, reference),
  rules: ({ upstreamModel, details }) =>
    correctRules((FIRST.test(upstreamModel) ? firstRulesOf : rulesOf)(upstreamModel), details),
  callbacks,
}
