/**
 * Work in progress, by owner: waiting for the work of one owner never means waiting for that of
 * another.
 */
import { Roster } from './roster.ts'

export class UnderWay {
  private readonly byOwner = new Map<string, Roster<Promise<unknown>>>()

  /** Notes work until it ends. Returns it. */
  add<T>(owner: string, work: Promise<T>): Promise<T> {
    const own = this.byOwner.get(owner) ?? new Roster<Promise<unknown>>()
    this.byOwner.set(owner, own)
    const leave = own.add(work)
    const end = () => {
      leave()
      if (own.size === 0) this.byOwner.delete(owner)
    }
    work.then(end, end)
    return work
  }

  /**
   * Resolves once all work noted before this call, of one owner or of all, has ended. Never
   * rejects.
   */
  async ended(owner?: string): Promise<void> {
    const one = owner === undefined ? undefined : this.byOwner.get(owner)
    const rosters = owner === undefined ? [...this.byOwner.values()] : one ? [one] : []
    await Promise.allSettled(rosters.flatMap((roster) => roster.list()))
  }
}
