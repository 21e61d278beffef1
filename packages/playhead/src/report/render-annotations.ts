import type { TestReport } from '@playhead/model'
import { failureOf, titleOf } from './describe-report.ts'

const SHOWN = 10

/** Lines that GitHub shows beside the files of a pull request. */
export function renderAnnotations({ tests }: TestReport): string[] {
  return tests
    .filter(({ verdict }) => verdict === 'fail' || verdict === 'inconclusive')
    .slice(0, SHOWN)
    .map((test) => {
      const level = test.verdict === 'fail' ? 'error' : 'warning'
      const file = test.file === undefined ? '' : `file=${escapeProperty(test.file)},`
      return `::${level} ${file}title=${escapeProperty(titleOf(test))}::${escapeData(failureOf(test))}`
    })
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
