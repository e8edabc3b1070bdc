/** Reads a regular expression into the few forms that decide how a matcher works through a text. */
import { type AST, RegExpParser } from '@eslint-community/regexpp'
import { type Alphabet, readAlphabet } from './alphabet.ts'

/** A class of characters by its number; -1 stands for the start and the end of the text. */
export type Class = number
export const EDGE: Class = -1

/** Decides between two characters, without taking one. */
export type Condition = (before: Class, after: Class) => boolean

export type Form =
  | { readonly kind: 'take'; readonly classes: ReadonlySet<Class> }
  | { readonly kind: 'sequence'; readonly items: readonly Form[] }
  | { readonly kind: 'choice'; readonly options: readonly Form[] }
  | {
      readonly kind: 'repeat'
      readonly item: Form
      readonly min: number
      readonly max: number
      readonly isGreedy: boolean
    }
  | { readonly kind: 'condition'; readonly holds: Condition }
  /** A look ahead that one character does not decide. */
  | { readonly kind: 'look'; readonly item: Form; readonly isNegated: boolean }

export interface Pattern {
  readonly form: Form
  readonly isGlobal: boolean
  readonly alphabet: Alphabet
}

/** Throws for what neither the proof nor the counting matcher knows, such as back references. */
export function readPattern(source: string, flags: string): Pattern {
  const parser = new RegExpParser()
  const mode = { unicode: flags.includes('u'), unicodeSets: flags.includes('v') }
  const tree = parser.parsePattern(source, undefined, undefined, mode)
  const alphabet = readAlphabet(listParts(tree), flags)
  const reader: Reader = { alphabet, isMultiline: flags.includes('m') }
  const isGlobal = flags.includes('g')
  return { form: readChoice(reader, tree.alternatives), isGlobal, alphabet }
}

type Part = Parameters<Alphabet['classesOf']>[0]

/** All parts that take a character, those inside of looks too. */
function listParts(node: AST.Node): Part[] {
  switch (node.type) {
    case 'Character':
    case 'CharacterClass':
    case 'CharacterSet':
    case 'ExpressionCharacterClass':
      return [node]
    case 'Quantifier':
      return listParts(node.element)
    case 'Alternative':
      return node.elements.flatMap(listParts)
    default:
      return 'alternatives' in node ? node.alternatives.flatMap(listParts) : []
  }
}

interface Reader {
  readonly alphabet: Alphabet
  readonly isMultiline: boolean
}

function readChoice(reader: Reader, alternatives: readonly AST.Alternative[]): Form {
  const options = alternatives.map(({ elements }): Form => {
    const items = elements.map((element) => readElement(reader, element))
    return items.length === 1 && items[0] ? items[0] : { kind: 'sequence', items }
  })
  return options.length === 1 && options[0] ? options[0] : { kind: 'choice', options }
}

function readElement(reader: Reader, element: AST.Element): Form {
  switch (element.type) {
    case 'Group':
      if (element.modifiers) throw new Error('a group with flags of its own')
      return readChoice(reader, element.alternatives)
    case 'CapturingGroup':
      return readChoice(reader, element.alternatives)
    case 'Quantifier': {
      const { min, max, greedy: isGreedy } = element
      return { kind: 'repeat', item: readElement(reader, element.element), min, max, isGreedy }
    }
    case 'Assertion':
      return readAssertion(reader, element)
    case 'Backreference':
      throw new Error('a back reference')
    default:
      return { kind: 'take', classes: reader.alphabet.classesOf(element) }
  }
}

function readAssertion(reader: Reader, assertion: AST.Assertion): Form {
  const { alphabet, isMultiline } = reader
  const isWord = (one: Class) => alphabet.words[one] === true
  const isLineEnd = (one: Class) => isMultiline && alphabet.lineEnds[one] === true
  switch (assertion.kind) {
    case 'start':
      return { kind: 'condition', holds: (before) => before === EDGE || isLineEnd(before) }
    case 'end':
      return { kind: 'condition', holds: (_, after) => after === EDGE || isLineEnd(after) }
    case 'word': {
      const { negate } = assertion
      const isEdge: Condition = (before, after) => isWord(before) !== isWord(after)
      return { kind: 'condition', holds: (...sides) => isEdge(...sides) !== negate }
    }
    default:
      return readLook(reader, assertion)
  }
}

function readLook(reader: Reader, look: AST.LookaroundAssertion): Form {
  const { negate: isNegated, kind } = look
  const item = readChoice(reader, look.alternatives)
  const decides = readSides(item)
  if (kind === 'lookahead') {
    if (!decides) return { kind: 'look', item, isNegated }
    return { kind: 'condition', holds: (before, after) => decides(before, after) !== isNegated }
  }
  // Behind, "before" and "after" of a condition would mean other places.
  if (item.kind !== 'take') throw new Error('a look behind at more than one character')
  const { classes } = item
  return { kind: 'condition', holds: (before) => classes.has(before) !== isNegated }
}

/** Returns a condition if one character, or the end, decides; undefined if more must be read. */
function readSides(form: Form): Condition | undefined {
  if (form.kind === 'take') return (_, after) => form.classes.has(after)
  if (form.kind === 'condition') return form.holds
  if (form.kind !== 'choice') return undefined
  const sides = form.options.map(readSides)
  if (!sides.every((side) => side !== undefined)) return undefined
  return (before, after) => sides.some((side) => side(before, after))
}
