/** Marks within a chart: axes, columns, lines. */
import { useLanguage } from '../../lib/i18n.tsx'
import type { BucketStep } from './fill-buckets.ts'
import type { Point, Series } from './points.ts'
import { labelledSlots } from './scale.ts'
import { slotLabel } from './slot-label.ts'
import classes from './time-chart.module.css'

/** Positions in pixels. */
export interface PlotArea {
  readonly left: number
  readonly right: number
  readonly bottom: number
  readonly slotWidth: number
  readonly marks: readonly number[]
  /** The middle of a slot. */
  readonly x: (slot: number) => number
  readonly y: (value: number) => number
}

const LABEL_WIDTH = 76

interface AxesProps {
  readonly frame: PlotArea
  readonly points: readonly Point[]
  readonly step: BucketStep
  readonly format: (value: number) => string
}

export function Axes({ frame, points, step, format }: AxesProps) {
  const { language } = useLanguage()
  const { left, right, bottom, marks, x, y } = frame
  const labelled = labelledSlots(points.length, Math.floor((right - left) / LABEL_WIDTH))
  const isAtEdge = (slot: number) => right - x(slot) < LABEL_WIDTH / 3
  return (
    <>
      {marks.map((mark) => (
        <g key={mark}>
          <line x1={left} x2={right} y1={y(mark)} y2={y(mark)} className={classes.grid} />
          <text x={left - 8} y={y(mark) + 4} textAnchor="end" className={classes.axisText}>
            {format(mark)}
          </text>
        </g>
      ))}
      {points.map(({ at }, slot) =>
        labelled.has(slot) ? (
          <text
            key={at}
            x={isAtEdge(slot) ? right : x(slot)}
            y={bottom + 16}
            textAnchor={isAtEdge(slot) ? 'end' : 'middle'}
            className={classes.axisText}
          >
            {slotLabel(at, step, language, 'short')}
          </text>
        ) : null,
      )}
    </>
  )
}

interface MarksProps {
  readonly frame: PlotArea
  readonly points: readonly Point[]
  readonly series: readonly Series[]
  readonly kind: 'columns' | 'lines'
}

export function Marks({ kind, ...props }: MarksProps) {
  return kind === 'columns' ? <Columns {...props} /> : <Lines {...props} />
}

const GAP_SHARE = 0.2
/** The smallest height of a column, so that any value above zero is visible. */
const PIXELS_MIN = 1.5

function Columns({ frame, points, series }: Omit<MarksProps, 'kind'>) {
  const { slotWidth, bottom, x, y } = frame
  const width = Math.max(1, slotWidth * (1 - GAP_SHARE))
  return points.map(({ at, values }, slot) => {
    let below = 0
    return series.map(({ label, color }, index) => {
      const value = values[index] ?? 0
      if (value <= 0) return null
      const top = Math.min(y(below + value), y(below) - PIXELS_MIN)
      const height = Math.min(y(below), bottom) - top
      below += value
      return (
        <rect
          key={`${at} ${label}`}
          x={x(slot) - width / 2}
          y={top}
          width={width}
          height={height}
          fill={color}
          rx={Math.min(1.5, width / 4)}
        />
      )
    })
  })
}

function Lines({ frame, points, series }: Omit<MarksProps, 'kind'>) {
  const { x, y } = frame
  return series.map(({ label, color }, index) => {
    const runs = splitRuns(points.map(({ values }) => values[index] ?? null))
    return (
      <g key={label} fill="none" stroke={color} strokeWidth={1.75} strokeLinejoin="round">
        {runs.map((run) =>
          run.length === 1 ? (
            run.map(([slot, value]) => (
              <circle key={slot} cx={x(slot)} cy={y(value)} r={1.5} fill={color} />
            ))
          ) : (
            <polyline
              key={run[0]?.[0]}
              points={run.map(([slot, value]) => `${x(slot)},${y(value)}`).join(' ')}
            />
          ),
        )}
      </g>
    )
  })
}

/** Interrupts the line where a value is missing. */
function splitRuns(values: readonly (number | null)[]): (readonly [number, number])[][] {
  const runs: (readonly [number, number])[][] = [[]]
  values.forEach((value, slot) => {
    if (value === null) runs.push([])
    else runs.at(-1)?.push([slot, value])
  })
  return runs.filter((run) => run.length > 0)
}
