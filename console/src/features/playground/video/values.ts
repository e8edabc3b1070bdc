/** The fields of the form, and what depends on them alone. */

export const ROLES = [
  ...(['first_frame', 'last_frame', 'reference_image'] as const),
  ...(['reference_video', 'reference_audio'] as const),
]

export type ReferenceRole = (typeof ROLES)[number]

export interface Reference {
  readonly id: number
  readonly role: ReferenceRole
  readonly url: string
}

export interface VideoValues {
  readonly prompt: string
  readonly references: readonly Reference[]
  /** Empty for the model's default. */
  readonly resolution: string
  readonly ratio: string
  readonly tier: string
  readonly duration: number | string
  readonly seed: number | string
  readonly hasSound: boolean
  readonly hasLastFrame: boolean
  readonly isStill: boolean
  readonly hasWatermark: boolean
  readonly callback: string
  readonly endUser: string
}
