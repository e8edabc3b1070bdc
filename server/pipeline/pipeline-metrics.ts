/** Counters the pipeline reports to; server/app/metrics.ts gives them names. */
export interface PipelineMetrics {
  call(facts: {
    readonly endpoint: string
    readonly outcome: string
    readonly status: number
    readonly seconds: number
  }): void
  settled(facts: { readonly basis: string; readonly review: boolean }): void
  /** The vendor's own figure is far from what the route's costs come to. */
  costDiffers(): void
  attempt(facts: { readonly channel: string; readonly outcome: string }): void
}
