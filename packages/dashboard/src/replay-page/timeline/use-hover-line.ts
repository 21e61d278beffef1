import { useCallback, useRef, type PointerEvent, type RefObject } from 'react'
import { formatOffset } from '@playhead/model'
import type { Player } from '../playback/player.ts'
import { titleOf } from '../steps/step-text.ts'
import type { TimeScale } from '../playback/time-scale.ts'
import { positionAt } from '../playback/timeline.ts'

/** A line under the pointer that says what is there, without moving the playhead. */
export function useHoverLine(
  line: RefObject<HTMLDivElement | null>,
  player: Player,
  scale: TimeScale,
): (event: PointerEvent<HTMLElement>) => void {
  const leftPx = useRef(0)
  return useCallback(
    (event) => {
      const element = line.current
      if (element === null || event.pointerType === 'touch') return
      // While it is dragged, the playhead itself says where it is.
      if (event.buttons !== 0) return element.setAttribute('hidden', '')
      if (element.hasAttribute('hidden')) leftPx.current = event.currentTarget.getBoundingClientRect().left
      const x = event.clientX - leftPx.current
      const timeMs = scale.toTime(x)
      const step = player.timeline.steps[positionAt(player.timeline, timeMs)]
      element.removeAttribute('hidden')
      element.style.transform = `translateX(${x}px)`
      element.dataset.side = x > scale.widthPx / 2 ? 'left' : 'right'
      element.firstElementChild!.textContent = `${formatOffset(timeMs)}${step === undefined ? '' : `  ${titleOf(step)}`}`
    },
    [line, player, scale],
  )
}
