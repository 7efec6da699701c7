package errand

import (
	"cmp"
	"context"
	"encoding/base64"
	"html/template"
	"slices"
	"strings"
	"sync"
	"time"

	"roomgate/agent/acceptance"
	"roomgate/agent/access"
	"roomgate/agent/clock"
	"roomgate/agent/problem"
)

// answerTime is how long a question of a walk waits for its answer. Then it is skipped.
const answerTime = 15 * time.Minute

// Walk is somebody on his way through a room, device by device.
type Walk struct {
	SpaceID, Space, By string
	Asks               bool // a person is asked what only a person sees
	Asked              int  // how many questions were asked: the last one may wait for its answer
	Running            bool
	Steps              []Step
	Question           string // that waits for its answer; empty: none does
	Picture            template.URL
	Verdict, Wrong     string // once it is over
}

// Step is one thing that was tried.
type Step struct {
	Device string // its type
	acceptance.Step
}

// begun is a walk that somebody has begun.
type begun struct {
	room acceptance.Room
	who  access.Principal
}

// walks are the acceptances of rooms: one at a time, and the last report of each room.
type walks struct {
	wanted chan begun // the walk under way

	mu      sync.Mutex
	now     *Walk                  // under way
	answer  chan acceptance.Answer // of the question that is asked
	stop    context.CancelCauseFunc
	last    map[string]Walk // by space
	reports map[string]acceptance.Report
}

func newWalks() *walks {
	return &walks{wanted: make(chan begun, 1), last: map[string]Walk{}, reports: map[string]acceptance.Report{}}
}

// StartWalk begins to walk a room. by is who signs the report; asks says that somebody
// stands in the room and answers.
func (e *Errands) StartWalk(room acceptance.Room, who access.Principal, by string, asks bool) error {
	w := e.walks
	w.mu.Lock()
	defer w.mu.Unlock()
	switch by = strings.TrimSpace(by); {
	case by == "" || len(by) > 200:
		return problem.New(problem.Invalid, "by", "is missing or too long: say who signs the report")
	case w.now != nil:
		return problem.New(problem.NotNow, "", "somebody is accepting %s: wait until that is over, or stop it", w.now.Space)
	}
	w.now = &Walk{SpaceID: room.ID, Space: room.Name, By: by, Asks: asks, Running: true}
	w.wanted <- begun{room, who} // it has room for one
	return nil
}

// AnswerWalk answers a question of the walk through a space, by its number: yes, no or skip.
// Of two answers the second one is too late, also if another question is asked by then.
func (e *Errands) AnswerWalk(spaceID string, question int, answer, note string) error {
	results := map[string]acceptance.Result{"yes": acceptance.Passed, "no": acceptance.Failed, "skip": acceptance.Skipped}
	result, known := results[answer]
	if !known || len(note) > 500 {
		return problem.New(problem.Invalid, "answer", "is not known: want yes, no or skip, with a note of at most 500 bytes")
	}
	w := e.walks
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.now == nil || w.now.SpaceID != spaceID || w.now.Question == "":
		return problem.New(problem.NotNow, "", "nothing is asked about this room now")
	case w.now.Asked != question:
		return problem.New(problem.NotNow, "question", "is not the one that is asked now: read that one, and answer it")
	}
	w.now.Question = ""
	w.answer <- acceptance.Answer{Result: result, Note: strings.TrimSpace(note)} // it has room for one
	return nil
}

// StopWalk ends the walk through a space. Its devices are brought back to what they were.
func (e *Errands) StopWalk(spaceID string) error {
	w := e.walks
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now == nil || w.now.SpaceID != spaceID || w.stop == nil {
		return problem.New(problem.NotNow, "", "nobody is accepting this room now")
	}
	w.stop(errStopped)
	return nil
}

// WalkOf is the walk through a space that is under way, or the last one since the start.
func (e *Errands) WalkOf(spaceID string) Walk {
	w := e.walks
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now != nil && w.now.SpaceID == spaceID {
		now := *w.now
		now.Steps = slices.Clone(now.Steps)
		return now
	}
	return w.last[spaceID]
}

// Report is the last one of a space since the start.
func (e *Errands) Report(spaceID string) (acceptance.Report, error) {
	e.walks.mu.Lock()
	defer e.walks.mu.Unlock()
	r, ok := e.walks.reports[spaceID]
	if !ok {
		return r, problem.New(problem.NotFound, "id", "has no report since the gateway was started: accept the room first")
	}
	return r, nil
}

// change changes the walk under way.
func (w *walks) change(f func(*Walk)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(w.now)
}

// walk walks one room and keeps its report.
func (e *Errands) walk(ctx context.Context, b begun) {
	w, room, identity := e.walks, b.room, e.o.Health().Identity()
	ctx, cancel := e.during(ctx, b.who)
	defer cancel(nil)
	r := acceptance.Report{Space: room.Name, SpaceID: room.ID, Timezone: room.Timezone, Gateway: identity, Version: e.o.Version, Tool: e.o.Version,
		StartedAt: e.o.Now().UTC().Truncate(time.Millisecond), TimeTrust: clock.Untrusted}
	if e.o.Health().Clock().Trusted {
		r.TimeTrust = clock.Trusted
	}
	person := acceptance.Person{Told: func(deviceType string, s acceptance.Step) {
		w.change(func(v *Walk) { v.Steps = append(v.Steps, Step{deviceType, s}) })
	}}
	w.change(func(v *Walk) {
		w.stop, r.By = cancel, v.By
		if v.Asks {
			person.Ask, person.Show = w.ask, w.show
		}
	})
	var err error
	r.Devices, err = acceptance.Accept(ctx, room, person, nil)
	r.FinishedAt = e.o.Now().UTC().Truncate(time.Millisecond)
	r.Judge()
	if err != nil {
		err = cmp.Or(context.Cause(ctx), err)
	}
	w.finish(r, err)
}

// finish keeps what has come of the walk.
func (w *walks) finish(r acceptance.Report, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	over := *w.now
	over.Running, over.Question, over.Picture = false, "", ""
	switch {
	case err != nil:
		over.Wrong = err.Error()
	default:
		over.Verdict = string(r.Verdict)
		w.reports[r.SpaceID] = r
	}
	w.last[r.SpaceID], w.now, w.stop = over, nil, nil
}

// ask waits for the answer of the person.
func (w *walks) ask(ctx context.Context, question string) (a acceptance.Answer, err error) {
	answer := make(chan acceptance.Answer, 1)
	w.change(func(v *Walk) { v.Question, v.Asked, w.answer = question, v.Asked+1, answer })
	defer w.change(func(v *Walk) { v.Question, v.Picture = "", "" })
	late := time.NewTimer(answerTime)
	defer late.Stop()
	select {
	case a = <-answer:
	case <-late.C:
		a = w.unanswered(answer)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	return a, err
}

// unanswered ends a question that has waited too long, unless it was answered meanwhile.
func (w *walks) unanswered(answer <-chan acceptance.Answer) acceptance.Answer {
	w.change(func(v *Walk) { v.Question = "" })
	select {
	case a := <-answer:
		return a
	default:
		return acceptance.Answer{Result: acceptance.Skipped, Note: "nobody answered"}
	}
}

// show shows a picture with the next question.
func (w *walks) show(p acceptance.Picture) (string, error) {
	if p.ContentType != "image/jpeg" && p.ContentType != "image/png" { // a browser would run anything else
		return "nowhere, it is neither JPEG nor PNG", nil
	}
	data := template.URL("data:" + p.ContentType + ";base64," + base64.StdEncoding.EncodeToString(p.Data)) //nolint:gosec // of two types that are pictures
	w.change(func(v *Walk) { v.Picture = data })
	return "below", nil
}

// Identify makes a device of a room show itself, and says how.
func (e *Errands) Identify(ctx context.Context, room acceptance.Room, who access.Principal, deviceType, sub string) (shown []string, err error) {
	ctx, cancel := e.during(ctx, who)
	defer cancel(nil)
	err = room.Identify(ctx, deviceType, sub, func(s acceptance.Shown) { shown = append(shown, s.What) })
	if err != nil && problem.As(err) == nil {
		err = problem.New(problem.Unavailable, "", "%v", err)
	}
	return shown, err
}
