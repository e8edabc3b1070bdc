/**
 * Members that come and go with every call. A Set (or a Map) moves into a new table whenever many
 * members have left, and the old table keeps pointing to the members of that moment and to the new
 * table. Once a major garbage collection has moved a table to the old generation, every later table
 * is reachable from a dead one: all members then survive each minor collection, with everything
 * they refer to. Here, a place is cleared as soon as its member leaves.
 */
export class Roster<Member> {
  private readonly places: (Member | undefined)[] = []
  private readonly free: number[] = []

  get size(): number {
    return this.places.length - this.free.length
  }

  /** Adds a member and returns the function that removes it; further calls of it do nothing. */
  add(member: Member): () => void {
    const place = this.free.pop() ?? this.places.length
    this.places[place] = member
    let hasLeft = false
    return () => {
      if (hasLeft) return
      hasLeft = true
      this.places[place] = undefined
      this.free.push(place)
    }
  }

  /** Returns the present members, in no particular order. */
  list(): Member[] {
    return this.places.filter((member) => member !== undefined)
  }
}
