/**
 * Figures over time, as stacked columns or as lines. Pointer and arrow keys move through the slots;
 * a table has the same figures for screen readers. Drawn here, since no library's charts serve the
 * keyboard as well.
 */

import { Text } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { type KeyboardEvent, type PointerEvent, useState } from 'react'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { messages } from '../messages.ts'
import { Axes, Marks, type PlotArea } from './chart-marks.tsx'
import { ChartTable } from './chart-table.tsx'
import type { BucketStep } from './fill-buckets.ts'
import type { Point, Series } from './points.ts'
import { axisMarks, axisWidth } from './scale.ts'
import { slotLabel } from './slot-label.ts'
import classes from './time-chart.module.css'

interface TimeChartProps {
  readonly label: string
  readonly kind: 'columns' | 'lines'
  readonly step: BucketStep
  readonly series: readonly Series[]
  readonly points: readonly Point[]
  /** Formats the marks at the side. */
  readonly format: (value: number) => string
  /** Opens the records of a slot. */
  readonly onPick?: (point: Point) => void
  readonly height?: number
}

const MARGIN = { right: 4, top: 8, bottom: 22 } as const

export function TimeChart(props: TimeChartProps) {
  const { label, kind, series, points, height = 160, onPick } = props
  const t = useMessages(messages)
  const { ref, width } = useElementSize<HTMLDivElement>()
  const [slot, setSlot] = useState<number>()
  const frame = measure(props, width, height)
  const isEmpty = points.every(({ values }) => values.every((value) => !value))
  const point = slot === undefined ? undefined : points[slot]
  const pick = () => point && onPick?.(point)
  const { language } = useLanguage()
  const describe = ({ at, texts }: Point) =>
    [
      slotLabel(at, props.step, language, 'long'),
      ...series.map((one, index) => `${one.label} ${texts[index]}`),
    ].join(', ')
  return (
    <figure className={classes.chart} aria-label={label}>
      <div
        ref={ref}
        className={classes.plot}
        style={{ height, cursor: onPick && point ? 'pointer' : undefined }}
        // Arrow keys move through the slots; screen readers read each one.
        tabIndex={0}
        role="slider"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, points.length - 1)}
        aria-valuenow={slot ?? 0}
        aria-valuetext={point ? describe(point) : ''}
        onPointerMove={(event) => setSlot(slotAt(event, frame))}
        onPointerLeave={() => setSlot(undefined)}
        onBlur={() => setSlot(undefined)}
        onClick={pick}
        onKeyDown={(event) => {
          if (event.key === 'Enter') pick()
          setSlot((at) => walk(event, at, points.length))
        }}
      >
        {width > 0 ? (
          <svg width={width} height={height} aria-hidden="true">
            <Axes frame={frame} points={points} step={props.step} format={props.format} />
            {slot === undefined ? null : <Cursor frame={frame} slot={slot} height={height} />}
            <Marks frame={frame} points={points} series={series} kind={kind} />
          </svg>
        ) : null}
        {isEmpty ? <Text className={classes.empty}>{t('noFigures')}</Text> : null}
        {point && slot !== undefined ? (
          <Tip point={point} slot={slot} frame={frame} series={series} step={props.step} />
        ) : null}
      </div>
      <ChartTable label={label} points={points} series={series} step={props.step} />
    </figure>
  )
}

function measure(
  { kind, points, format }: TimeChartProps,
  width: number,
  height: number,
): PlotArea {
  const heights = points.map(({ values }) => {
    const known = values.map((value) => value ?? 0)
    return kind === 'columns' ? known.reduce((sum, one) => sum + one, 0) : Math.max(0, ...known)
  })
  const marks = axisMarks(Math.max(0, ...heights))
  const top = marks.at(-1) || 1
  const left = axisWidth(marks.map(format))
  const inner = Math.max(0, width - left - MARGIN.right)
  const tall = height - MARGIN.top - MARGIN.bottom
  const slotWidth = inner / Math.max(1, points.length)
  return {
    left,
    right: width - MARGIN.right,
    slotWidth,
    marks,
    bottom: height - MARGIN.bottom,
    x: (slot) => left + (slot + 0.5) * slotWidth,
    y: (value) => MARGIN.top + tall * (1 - value / top),
  }
}

function slotAt(event: PointerEvent<HTMLElement>, frame: PlotArea): number | undefined {
  const x = event.clientX - event.currentTarget.getBoundingClientRect().left
  if (x < frame.left || x >= frame.right) return undefined
  return Math.floor((x - frame.left) / frame.slotWidth)
}

function walk({ key }: KeyboardEvent, at: number | undefined, count: number): number | undefined {
  if (key === 'ArrowRight') return Math.min(count - 1, (at ?? -1) + 1)
  if (key === 'ArrowLeft') return Math.max(0, (at ?? count) - 1)
  return key === 'Escape' ? undefined : at
}

interface CursorProps {
  readonly frame: PlotArea
  readonly slot: number
  readonly height: number
}

function Cursor({ frame, slot }: CursorProps) {
  const { slotWidth, bottom, x, y, marks } = frame
  const top = y(marks.at(-1) ?? 0)
  return (
    <rect
      x={x(slot) - slotWidth / 2}
      y={top}
      width={slotWidth}
      height={bottom - top}
      className={classes.cursor}
    />
  )
}

interface TipProps extends Pick<TimeChartProps, 'series' | 'step'> {
  readonly point: Point
  readonly slot: number
  readonly frame: PlotArea
}

/** Placed on the side of the slot that has room. */
function Tip({ point, slot, frame, series, step }: TipProps) {
  const { language } = useLanguage()
  const x = frame.x(slot)
  const isRight = x > (frame.left + frame.right) / 2
  const edge = frame.slotWidth / 2 + 8
  const side = isRight ? { right: `calc(100% - ${x - edge}px)` } : { left: x + edge }
  return (
    <div className={classes.tip} style={side}>
      <div className={classes.tipTime}>{slotLabel(point.at, step, language, 'long')}</div>
      {series.map(({ label, color }, index) => (
        <div key={label} className={classes.tipRow}>
          <span className={classes.swatch} style={{ background: color }} />
          <span>{label}</span>
          <strong>{point.texts[index]}</strong>
        </div>
      ))}
    </div>
  )
}
