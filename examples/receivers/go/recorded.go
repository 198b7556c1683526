package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

type event struct {
	ID   string          `json:"id"`
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

// recordedEvents is a folder with a file per event that arrived: after a 2xx an event is not sent again, so it must be on
// disk by then. Once it was handled, its file is empty; it stays there, because the event may be delivered again.
// A table with the event's id as primary key does the same.
type recordedEvents string

// record writes the event to disk. The same event may be delivered more than once: the second time nothing changes.
func (folder recordedEvents) record(rawBody []byte) error {
	var arrived event
	if err := json.Unmarshal(rawBody, &arrived); err != nil {
		return err
	}
	draft, err := os.CreateTemp(string(folder), "draft-")
	if err != nil {
		return err
	}
	defer os.Remove(draft.Name())
	_, failedWrite := draft.Write(rawBody)
	if err := errors.Join(failedWrite, draft.Sync(), draft.Close()); err != nil {
		return err
	}
	// A link fails where the file exists, and the file appears as a whole.
	if err := os.Link(draft.Name(), folder.file(arrived.ID)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return folder.sync()
}

// unhandled returns the events that were recorded and not handled yet, by id, which is the order of their creation.
func (folder recordedEvents) unhandled() ([]event, error) {
	files, err := filepath.Glob(folder.file("*"))
	var events []event
	for _, file := range files {
		body, failedRead := os.ReadFile(file)
		if failedRead != nil || len(body) == 0 {
			err = errors.Join(err, failedRead)
			continue
		}
		var recorded event
		err = errors.Join(err, json.Unmarshal(body, &recorded))
		events = append(events, recorded)
	}
	return events, err
}

func (folder recordedEvents) markHandled(id string) error {
	return os.Truncate(folder.file(id), 0)
}

func (folder recordedEvents) file(id string) string {
	return filepath.Join(string(folder), filepath.Base(id)+".json")
}

// sync makes the names in the folder durable.
func (folder recordedEvents) sync() error {
	directory, err := os.Open(string(folder))
	if err != nil {
		return err
	}
	return errors.Join(directory.Sync(), directory.Close())
}
