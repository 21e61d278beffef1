import { nullArguments as findNullArguments, readSubject, type SessionSubject } from '@playhead/model'

/**
 * The arguments of actions that were null, usually because something before them went wrong.
 *
 * @example
 * expect(nullArguments(session)).toEqual([]) // or ["fetch_customer.customer_id"]
 */
export function nullArguments(subject: SessionSubject): string[] {
  return findNullArguments(readSubject(subject).steps)
}
