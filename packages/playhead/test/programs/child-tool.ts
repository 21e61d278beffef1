import * as playhead from 'playhead'

playhead.init({ capture: false, serviceName: 'child' })
playhead.withSession({ name: 'child tool' }, () => playhead.recordAction('in_the_child', () => 'done')())
